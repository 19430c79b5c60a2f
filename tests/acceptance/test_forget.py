"""What was forgotten is in no file any more, once the folder is compacted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine import Engine
from engine.errors import ModelUnreachable
from engine.models import ChatTurn, Excerpt, Extraction, Prompt, Question, SummaryInput
from engine.options import EngineOptions
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, doc, find_files_containing, open_engine, thread
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE
from tests.support.toy_language import ToyLanguage


class RecordingLanguage(ToyLanguage):
    """Its answers repeat what was said before."""

    async def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        for turn in prompt.history:
            yield f"{turn.text}\n"
        async for piece in super().answer(prompt, bill):
            yield piece


SECRETS = ("Quillfeather", "zanzibarine", "Mirabellum", "Xystobrand")


def find_secrets_on_disk(folder: Path) -> list[tuple[str, str]]:
    """Every secret word, as it was written or in lower case, with every file in which it stands."""
    words = {*SECRETS, *map(str.lower, SECRETS)}
    return [(word, file) for word in sorted(words) for file in find_files_containing(folder, word)]


async def fill_engine(engine: Engine) -> None:
    await engine.documents.add(doc("shared", "Ada met Bob.", "Carla waits."))
    many = [f"Quillfeather met Ada at the zanzibarine gate, time {n}." for n in range(12)]
    await engine.documents.add(doc("secret", "Ada met Bob.", *many, room="hall"))
    await engine.documents.add(thread("Mirabellum", "Quillfeather saw Bob."))
    await engine.wait_until_indexed()
    await engine.corrections.describe("here", "Quillfeather", "Mirabellum himself.")
    await engine.corrections.describe("here", "Quillfeather", "")
    for text in ("Who met Quillfeather?", "What is zanzibarine?"):
        answer = await engine.ask(Question(text, HERE))
        assert await answer.collect_text()
        assert answer.context.sources
    past = (ChatTurn("user", "Who was there?"), ChatTurn("assistant", "Quillfeather, at the zanzibarine gate."))
    await (await engine.ask(Question("And who else saw Bob?", HERE, past))).collect_text()
    await (await engine.ask(Question("Say it again.", HERE, past, mode="bypass"))).collect_text()
    await engine.wait_until_indexed()


@pytest.mark.long
async def test_after_forgetting_and_compaction_the_words_are_in_no_file(tmp_path: Path) -> None:
    language = RecordingLanguage()
    async with open_engine(tmp_path, language) as engine:
        await fill_engine(engine)
        assert language.calls["summarize"]
        assert find_secrets_on_disk(tmp_path)
        assert await engine.documents.forget("secret")
        assert await engine.documents.forget("Mirabellum")
        await engine.maintenance.compact()
        assert find_secrets_on_disk(tmp_path) == []
        found = await engine.graph.get_neighborhood("Ada", HERE)
        assert [(relation.source, relation.target, relation.weight) for relation in found.relations] == [
            ("Ada", "Bob", 1)
        ]
        assert found.relations[0].description == "Ada met Bob."
        assert (await engine.maintenance.verify()).is_clean
    assert find_secrets_on_disk(tmp_path) == []


async def test_words_that_an_edit_took_away_are_in_no_file_either(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        await engine.documents.add(doc("a", "Quillfeather met Ada.", "Ada sings."))
        await engine.documents.add(thread("t", "Bob saw the Xystobrand.", "Bob left."))
        await engine.wait_until_indexed()
        await engine.documents.add(doc("a", "Bob met Ada.", "Ada sings."))
        await engine.documents.amend("t", remove=["m000"])
        await engine.maintenance.compact()
        assert find_secrets_on_disk(tmp_path) == []
        assert (await engine.maintenance.verify()).is_clean


@pytest.mark.long
async def test_a_forgotten_secret_leaves_by_itself_within_the_time_set_for_it(tmp_path: Path) -> None:
    async with open_engine(tmp_path, options=EngineOptions(compaction_delay=0.4)) as engine:
        await engine.documents.add(doc("a", "Quillfeather met Ada."))
        await engine.wait_until_indexed()
        await engine.documents.forget("a")
        async with asyncio.timeout(PATIENCE):
            while find_secrets_on_disk(tmp_path):  # noqa: ASYNC110 - nobody tells when it is done
                await asyncio.sleep(0.1)


class UnreachableEmbedder(HashEmbedder):
    """Works until it is `away`: then it refuses every text, or never answers."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__()
        self.silent = silent
        self.away = False

    async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
        if self.away:
            if self.silent:
                await asyncio.Event().wait()
            raise ModelUnreachable("nobody is there")
        return await super().embed(texts, bill)


class UnreachableLanguage(RecordingLanguage):
    """Works until it is `away`: then it never answers, or fails."""

    def __init__(self, *, silent: bool) -> None:
        super().__init__()
        self.silent = silent
        self.away = False

    async def extract(self, excerpt: Excerpt, bill: UsageMeter) -> Extraction:
        await self._fail()
        return await super().extract(excerpt, bill)

    async def summarize(self, wanted: Sequence[SummaryInput], bill: UsageMeter) -> list[str | None]:
        await self._fail()
        return await super().summarize(wanted, bill)

    async def _fail(self) -> None:
        if self.away:
            if self.silent:
                await asyncio.Event().wait()
            raise ModelUnreachable("nobody is there")


@pytest.mark.long
@pytest.mark.parametrize("silent", [False, True])
async def test_a_secret_leaves_the_files_in_time_though_no_model_can_be_reached(tmp_path: Path, silent: bool) -> None:  # noqa: FBT001 - a parameter
    language, embedder = UnreachableLanguage(silent=silent), UnreachableEmbedder(silent=silent)
    async with open_engine(tmp_path, language, embedder, EngineOptions(compaction_delay=0.4)) as engine:
        await fill_engine(engine)
        assert language.calls["summarize"]
        language.away = embedder.away = True
        await engine.documents.add(doc("more", "Ada met Bob and Carla.", "Dora waits for Ada."))
        assert await engine.documents.forget("secret")
        assert await engine.documents.forget("Mirabellum")
        async with asyncio.timeout(PATIENCE):
            while find_secrets_on_disk(tmp_path):  # noqa: ASYNC110 - nobody tells when it is done
                await asyncio.sleep(0.1)
        quillfeather = await engine.graph.get_entity("Quillfeather", HERE)
        assert quillfeather is None
        language.away = embedder.away = False
    async with open_engine(tmp_path, language, embedder) as engine:
        await engine.wait_until_indexed()
        assert find_secrets_on_disk(tmp_path) == []
        assert (await engine.maintenance.verify()).is_clean
