"""What an asker sees is the same, byte for byte, whatever spaces outside of the scope hold: no order is an oracle."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Engine
from engine.models import Document, Question, RetrievalMode, Scope
from engine.options import EngineOptions, RankingOptions
from tests.support.engine_fixture import doc, open_memory_engine

VOCABULARIES = (
    ("harbour", "ferry", "council", "budget", "ledger", "lantern"),
    ("Ada", "Bob", "Carla", "Zoe", "met", "saw"),
    ("Ada", "tender_42", "sailing", "sails", "is_open", "Übergabe", "café"),
    ("渡し船", "港", "Ferry", "harbour", "fee", "12"),
)
PLACES = {"open": ("square", "hall"), "club": ("attic",)}
FOREIGN = {"closed": ("vault", "cellar"), "other": ("island",)}
SCOPES = {
    "spaces": Scope(frozenset({"open", "club"}), frozenset()),
    "one space": Scope(frozenset({"open"}), frozenset()),
    "rooms": Scope(frozenset(), frozenset({"square", "attic"})),
    "both": Scope(frozenset({"club"}), frozenset({"hall"})),
}
MODES = [mode for mode in get_args(RetrievalMode) if mode != "bypass"]


def draw_sentences(vocabulary: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(vocabulary), min_size=1, max_size=9).map(lambda words: " ".join(words) + ".")


@st.composite
def draw_documents(draw: st.DrawFn) -> tuple[list[Document], list[Document], list[str]]:
    """Documents of the scope, foreign ones made of the same words (or texts), and questions."""
    vocabulary = draw(st.sampled_from(VOCABULARIES))
    texts = st.lists(draw_sentences(vocabulary), min_size=1, max_size=4)
    own, foreign = list[list[str]](), list[list[str]]()
    own = draw(st.lists(texts, min_size=3, max_size=7))
    foreign = draw(st.lists(texts | st.sampled_from(own), min_size=1, max_size=12))
    questions = draw(st.lists(draw_sentences(vocabulary), min_size=1, max_size=2))
    return build_documents("own", own, PLACES), build_documents("foreign", foreign, FOREIGN), questions


def build_documents(name: str, contents: list[list[str]], places: dict[str, tuple[str, ...]]) -> list[Document]:
    where = [(space, room) for space, rooms in places.items() for room in rooms]
    return [
        doc(f"{name} {n}", *texts, space=where[n % len(where)][0], room=where[n % len(where)][1])
        for n, texts in enumerate(contents)
    ]


async def visible_output(engine: Engine, scope: Scope, questions: list[str]) -> str:
    """All that an asker is shown."""
    told: list[Any] = [
        await engine.documents.list(scope),
        await engine.maintenance.get_status(scope),
        await engine.graph.find_names("", scope),
    ]
    for text in questions:
        for mode in MODES:
            context = await engine.retrieve(Question(text, scope, mode=mode, threshold=-1.0, top_k=3, chunk_top_k=3))
            told += [context.question, context.entities, context.relations, context.sources, context.spaces]
    for name in ("Ada", "Bob", "Ferry"):
        told.append(await engine.graph.get_neighborhood(name, scope, 2))
    for form in ("jsonl", "graphml"):
        told += [line async for line in engine.maintenance.export(form, scope)]
    return "\n".join(map(str, told))


@pytest.mark.long
@pytest.mark.parametrize("words", ["porter unicode61", pytest.param("trigram", marks=pytest.mark.long)])
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(town=draw_documents(), first=st.booleans(), picking=st.sampled_from(["walk", "vector", "weight"]))
async def test_an_asker_sees_the_same_with_and_without_foreign_spaces(
    tmp_path_factory: pytest.TempPathFactory,
    town: tuple[list[Document], list[Document], list[str]],
    *,
    words: str,
    first: bool,
    picking: str,
) -> None:
    own, foreign, questions = town
    options = EngineOptions(fts_tokenizer=words, ranking=RankingOptions(chunk_selection=picking))  # type: ignore[arg-type]

    async def through(documents: list[Document]) -> dict[str, str]:
        async with open_memory_engine(tmp_path_factory.mktemp("town"), options=options) as engine:
            for document in documents:
                await engine.documents.add(document)
            await engine.wait_until_indexed()
            return {name: await visible_output(engine, scope, questions) for name, scope in SCOPES.items()}

    mixed = foreign + own if first else [each for two in zip_longest(own, foreign) for each in two if each]
    assert await through(mixed) == await through(own)
