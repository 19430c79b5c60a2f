"""The same documents in any order and any concurrency, edited and forgotten on the way, come to the same state."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.options import Limits, Options
from tests.support.engines import canonical, doc, light_engine, open_engine
from tests.support.language import ToyLanguage

if TYPE_CHECKING:
    from engine import Engine
    from engine.models import Document

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NAMES = ("Ada", "Bob", "Carla", "Dora")
VERBS = ("met", "left", "saw")
SENTENCES = st.builds("{} {} {}.".format, st.sampled_from(NAMES), st.sampled_from(VERBS), st.sampled_from(NAMES))
TEXTS = st.lists(st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3)
LIBRARIES = st.lists(st.tuples(TEXTS, st.sampled_from(["here", "there"]), st.integers(0, 3)), min_size=2, max_size=5)


@dataclass(frozen=True, slots=True)
class Way:
    """How documents come in: in which order, how many at once, read by how many, and what happens between."""

    order: tuple[int, ...]
    at_once: bool
    readers: int
    project_batch: int
    embed_batch: int
    detour: bool


def library(told: list[tuple[list[str], str, int]]) -> list[Document]:
    return [
        doc(f"d{n}", *texts, space=space, room=f"room of {space}", time=NOON + timedelta(hours=hour) if hour else None)
        for n, (texts, space, hour) in enumerate(told)
    ]


@st.composite
def ways(draw: st.DrawFn) -> tuple[list[Document], Way]:
    documents = library(draw(LIBRARIES))
    order = draw(st.permutations(range(len(documents))))
    readers, project_batch = draw(st.sampled_from([1, 2, 8])), draw(st.sampled_from([1, 3, 512]))
    at_once, detour = draw(st.booleans()), draw(st.booleans())
    return documents, Way(tuple(order), at_once, readers, project_batch, draw(st.sampled_from([1, 64])), detour)


async def come(engine: Engine, documents: list[Document], way: Way) -> list[str]:
    if way.detour:
        await engine.add(doc("detour", "Ada met Emil. Emil left Bob."))
        await engine.add(doc(documents[0].key, "Bob left Dora.", space="here", room="elsewhere"))
        await asyncio.sleep(0)
    if way.at_once:
        await asyncio.gather(*(engine.add(documents[n]) for n in way.order))
    else:
        for n in way.order:
            await engine.add(documents[n])
            await engine.settled()
    if way.detour:
        await engine.forget("detour")
    await engine.settled()
    assert (await engine.verify()).clean
    return await canonical(engine)


def options(readers: int, project_batch: int, embed_batch: int) -> Options:
    few = Limits(join_fragments=3, group=3)  # so that summaries are made of few mentions
    return Options(readers=readers, project_batch=project_batch, embed_batch=embed_batch, describing=few)


@given(ways())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_order_and_any_concurrency_come_to_the_same_state(told: tuple[list[Document], Way]) -> None:
    documents, way = told

    async def both() -> tuple[list[str], list[str]]:
        plain = Way(
            tuple(range(len(documents))), at_once=False, readers=1, project_batch=512, embed_batch=64, detour=False
        )
        states = []
        for each in (plain, way):
            with tempfile.TemporaryDirectory() as home:
                chosen = options(each.readers, each.project_batch, each.embed_batch)
                async with light_engine(Path(home), options=chosen) as engine:
                    states.append(await come(engine, documents, each))
        return states[0], states[1]

    expected, found = asyncio.run(both())
    assert found == expected


async def test_on_the_real_stores_too(tmp_path: Path) -> None:
    texts = [f"{a} {verb} {b}." for a in NAMES for verb in VERBS for b in NAMES if a != b]
    documents = library([(texts[n::6], ("here", "there")[n % 2], n % 3) for n in range(6)])
    states = []
    for number, order in enumerate((range(6), (5, 2, 0, 4, 1, 3))):
        way = Way(tuple(order), at_once=bool(number), readers=8, project_batch=7, embed_batch=3, detour=bool(number))
        async with open_engine(tmp_path / str(number), ToyLanguage(), options=options(8, 7, 3)) as engine:
            states.append(await come(engine, documents, way))
    assert states[0] == states[1]
