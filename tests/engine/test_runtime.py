from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.errors import EmbedderMismatch, ModelUnavailable
from engine.llm.checked_embedder import UNRELATED_TEXTS, wrap_embedder
from engine.llm.e5.embedder import E5Embedder
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.model import OfflineModel
from engine.models import Document, Passage, Question
from engine.options import EngineOptions
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, open_memory_engine
from tests.support.fake_embedder import HashEmbedder, NarrowEmbedder

LINES = (
    "Ilse rows the green boat on Mondays.",
    "The green boat has a leak near the bow.",
    "Who paints the shed?",
    "Tomas paints the shed in May.",
    "Lunch is at noon.",
    "The shed holds nine oars and a ladder.",
)
QUESTIONS = ("Who rows the green boat?", "What does the shed hold?", "When does Tomas paint?", "Who owns the tram?")
TALK = Document(
    "talk",
    "here",
    "quay",
    "Talk",
    tuple(Passage(f"m{at}", text, f"line {at}", author="Ada", position=at) for at, text in enumerate(LINES)),
    kind="conversation",
)


async def ask_all(home: Path, embedder: HashEmbedder) -> list[tuple[list[str], str]]:
    """The passages that each question finds, in order, and its answer."""
    checked = wrap_embedder(embedder)
    async with open_memory_engine(home, OfflineModel(checked), checked) as engine:
        await engine.documents.add(TALK)
        await engine.wait_until_indexed()
        return [await ask(engine, text) for text in QUESTIONS]


async def ask(engine: Engine, text: str) -> tuple[list[str], str]:
    answer = await engine.ask(Question(text, HERE))
    return [source.passage for source in answer.context.sources], await answer.collect_text()


async def test_an_embedder_with_high_cosines_is_judged_as_one_with_low_ones(tmp_path: Path) -> None:
    plain = await ask_all(tmp_path / "plain", HashEmbedder(256))
    assert await ask_all(tmp_path / "narrow", NarrowEmbedder(257)) == plain
    assert any("Ilse" in answer for _, answer in plain)


def count_probes(embedders: Sequence[HashEmbedder]) -> list[int]:
    return [embedder.texts.count(UNRELATED_TEXTS[0]) for embedder in embedders]


async def test_the_scale_of_an_embedder_is_measured_once_and_kept(tmp_path: Path) -> None:
    first, second, other = HashEmbedder(), HashEmbedder(), HashEmbedder(name="other")
    for embedder in (first, second):
        await ask_all(tmp_path, embedder)
    assert count_probes([first, second]) == [1, 0]
    await ask_all(tmp_path / "elsewhere", other)
    async with open_memory_engine(tmp_path / "elsewhere", embedder=HashEmbedder(name="other")) as engine:
        assert engine._runtime.embedder.has_scale
    assert count_probes([other]) == [1]


async def test_the_scale_of_another_embedder_is_not_used(tmp_path: Path) -> None:
    await ask_all(tmp_path, HashEmbedder())
    options = EngineOptions(replace_embedder=True)
    async with open_memory_engine(tmp_path, embedder=HashEmbedder(name="other"), options=options) as engine:
        assert not engine._runtime.embedder.has_scale


class BrokenEmbedder(HashEmbedder):
    """Has the name of the multilingual embedder, and no weights."""

    def __init__(self) -> None:
        super().__init__(384, name=E5Embedder.name)

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        raise ModelUnavailable("The weights are damaged.")


async def test_a_built_in_embedder_takes_over_from_the_other_in_the_background(tmp_path: Path) -> None:
    english, multilingual = (HashEmbedder(384, name=each.name) for each in (MiniLMEmbedder, E5Embedder))
    async with Engine.open(tmp_path, embedder=english) as engine:
        await engine.documents.add(TALK)
        await engine.wait_until_indexed()
    german = EngineOptions(languages=("de",))
    with pytest.raises(ModelUnavailable):  # nothing is dropped for an embedder that does not work
        async with Engine.open(tmp_path, embedder=BrokenEmbedder(), options=german):
            pass
    async with Engine.open(tmp_path, embedder=english) as engine:
        assert await engine._runtime.vectors.list_rows("chunks")
    async with Engine.open(tmp_path, embedder=multilingual, options=german) as engine:
        assert (await engine.retrieve(Question(QUESTIONS[0], HERE))).sources  # found by words at once
        await engine.wait_until_indexed()
        assert await engine._runtime.vectors.list_rows("chunks")
        assert any("Ilse rows" in text for text in multilingual.texts)
        assert (await engine.maintenance.verify()).is_clean
        assert await engine._ledger.settings.get("reindexing") == ""
    for other in (HashEmbedder(384, name="of a provider"), english):
        with pytest.raises(EmbedderMismatch):
            async with Engine.open(tmp_path, embedder=other):
                pass
