"""What is paid for stays bounded: texts that are embedded and calls that are made are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.models import Document, Passage
from engine.options import EngineOptions
from tests.bench.costs import number_word
from tests.support.engine_fixture import doc, open_memory_engine
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from pathlib import Path


class Answering(ToyLanguage):
    """Another model answers, the same one summarises."""

    @property
    def summary_model(self) -> str:
        return "small"


async def test_each_merge_embeds_only_what_it_changes(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        lines = tuple(Passage(f"p{n}", f"A{number_word(n)} met B{number_word(n)}.", position=n) for n in range(30))
        await engine.add(Document("d", "here", "hall", "D", lines))
        await engine.wait_until_indexed()
        for number in range(30):
            embedder.texts.clear()
            await engine.merge("here", f"A{number_word(number)}", f"B{number_word(number)}")
            await engine.wait_until_indexed()
            assert len(embedder.texts) <= 2
        embedder.texts.clear()
        await engine.unmerge("here", f"A{number_word(3)}")
        await engine.wait_until_indexed()
        assert len(embedder.texts) <= 4


async def test_another_answer_model_remakes_no_summary(tmp_path: Path) -> None:
    document = doc("a", "\n".join(f"Ada did {n}." for n in range(12)))
    first, second, third = Answering("one"), Answering("two"), ToyLanguage("three")
    for language, summaries in ((first, 1), (second, 0), (third, 1)):
        async with open_memory_engine(tmp_path, language, options=EngineOptions(summary_cooldown=0.0)) as engine:
            await engine.add(document)
            await engine.wait_until_indexed()
            await engine.rebuild()
            assert language.calls["summarise"] == summaries
