"""The same documents in any order and any concurrency, edited and forgotten on the way, come to the same state."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.models import Document
from engine.options import EngineOptions, SummaryLimits
from tests.support.engine_fixture import canonical_export, doc, open_engine, open_memory_engine
from tests.support.toy_language import ToyLanguage

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NAMES = ("Ada", "Bob", "Carla", "Dora")
VERBS = ("met", "left", "saw")
SENTENCES = st.builds("{} {} {}.".format, st.sampled_from(NAMES), st.sampled_from(VERBS), st.sampled_from(NAMES))
TEXTS = st.lists(st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3)
LIBRARIES = st.lists(st.tuples(TEXTS, st.sampled_from(["here", "there"]), st.integers(0, 3)), min_size=2, max_size=5)


@dataclass(frozen=True, slots=True)
class IngestPlan:
    """How documents come in: in which order, how many at once, read by how many, and what happens between."""

    order: tuple[int, ...]
    at_once: bool
    readers: int
    project_batch: int
    embed_batch: int
    detour: bool


def build_documents(told: list[tuple[list[str], str, int]]) -> list[Document]:
    return [
        doc(f"d{n}", *texts, space=space, room=f"room of {space}", time=NOON + timedelta(hours=hour) if hour else None)
        for n, (texts, space, hour) in enumerate(told)
    ]


@st.composite
def draw_plans(draw: st.DrawFn) -> tuple[list[Document], IngestPlan]:
    documents = build_documents(draw(LIBRARIES))
    order = draw(st.permutations(range(len(documents))))
    readers, project_batch = draw(st.sampled_from([1, 2, 8])), draw(st.sampled_from([1, 3, 512]))
    at_once, detour = draw(st.booleans()), draw(st.booleans())
    return documents, IngestPlan(tuple(order), at_once, readers, project_batch, draw(st.sampled_from([1, 64])), detour)


async def ingest_all(engine: Engine, documents: list[Document], way: IngestPlan) -> list[str]:
    if way.detour:
        await engine.documents.add(doc("detour", "Ada met Emil. Emil left Bob."))
        await engine.documents.add(doc(documents[0].key, "Bob left Dora.", space="here", room="elsewhere"))
        await asyncio.sleep(0)
    if way.at_once:
        await asyncio.gather(*(engine.documents.add(documents[n]) for n in way.order))
    else:
        for n in way.order:
            await engine.documents.add(documents[n])
            await engine.wait_until_indexed()
    if way.detour:
        await engine.documents.forget("detour")
    await engine.wait_until_indexed()
    assert (await engine.maintenance.verify()).is_clean
    return await canonical_export(engine)


def build_options(readers: int, project_batch: int, embed_batch: int) -> EngineOptions:
    few = SummaryLimits(join_fragments=3, group_size=3)  # so that summaries are made of few mentions
    return EngineOptions(
        extraction_concurrency=readers,
        projection_batch_size=project_batch,
        embed_batch_size=embed_batch,
        summary_limits=few,
    )


@pytest.mark.long
@given(draw_plans())
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_order_and_concurrency_give_the_same_state(told: tuple[list[Document], IngestPlan]) -> None:
    documents, way = told

    async def both() -> tuple[list[str], list[str]]:
        plain = IngestPlan(
            tuple(range(len(documents))), at_once=False, readers=1, project_batch=512, embed_batch=64, detour=False
        )
        states = []
        for each in (plain, way):
            with tempfile.TemporaryDirectory() as home:
                chosen = build_options(each.readers, each.project_batch, each.embed_batch)
                async with open_memory_engine(Path(home), options=chosen) as engine:
                    states.append(await ingest_all(engine, documents, each))
        return states[0], states[1]

    expected, found = asyncio.run(both())
    assert found == expected


@pytest.mark.long
async def test_real_stores_give_the_same_state(tmp_path: Path) -> None:
    texts = [f"{a} {verb} {b}." for a in NAMES for verb in VERBS for b in NAMES if a != b]
    documents = build_documents([(texts[n::6], ("here", "there")[n % 2], n % 3) for n in range(6)])
    states = []
    for number, order in enumerate((range(6), (5, 2, 0, 4, 1, 3))):
        way = IngestPlan(
            tuple(order), at_once=bool(number), readers=8, project_batch=7, embed_batch=3, detour=bool(number)
        )
        async with open_engine(tmp_path / str(number), ToyLanguage(), options=build_options(8, 7, 3)) as engine:
            states.append(await ingest_all(engine, documents, way))
    assert states[0] == states[1]
