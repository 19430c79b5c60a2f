"""Texts that another choice of extraction read are named, and read again on request, exactly and beside new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.engine import Engine
from engine.ingest import rereading
from engine.models import Excerpt, Extraction, Mention, Question
from engine.usage import UsageMeter
from tests.support.engine_fixture import HERE, canonical_export, doc, is_clean, open_memory_engine, thread
from tests.support.toy_language import ToyLanguage

FILES = [doc("kiln", "Ada lit Kiln.", "Bob saw Ada."), doc("mill", "Carl met Dora.")]
TALKS = [thread("talk", "Eve met Ada.", is_open=False), thread("thanks", "Thanks!", is_open=False)]


class ShortLanguage(ToyLanguage):
    """Finds the first name of a text only."""

    def __init__(self) -> None:
        super().__init__("short")
        self.read: list[str] = []

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        self.read.append(excerpt.text)
        found = await super().extract(excerpt, meter)
        return Extraction(tuple(Mention(mention.name, mention.type, "first") for mention in found.mentions[:1]), ())


async def fill(engine: Engine) -> None:
    for file in (*FILES, *TALKS):
        await engine.documents.add(file)
    await engine.wait_until_indexed()


async def count_outdated(engine: Engine) -> int:
    return (await engine.maintenance.get_status(HERE)).outdated


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rereading, "CHECKED_AT_ONCE", 2)


async def test_what_another_choice_read_is_counted_and_read_again_exactly(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path / "fresh", ShortLanguage()) as engine:
        await fill(engine)
        expected = await canonical_export(engine)
    async with open_memory_engine(tmp_path / "old") as engine:
        await fill(engine)
        before = await canonical_export(engine)
        assert (await engine.maintenance.measure_outdated()).chunks == 0
    language = ShortLanguage()
    async with open_memory_engine(tmp_path / "old", language) as engine:
        found = await engine.maintenance.measure_outdated()
        assert found.chunks == await count_outdated(engine) == 3
        assert found.file_tokens > found.chat_tokens > 0
        assert await canonical_export(engine) == before
        assert language.calls["extract"] == 0
        assert await engine.maintenance.reread_outdated() == 3
        await engine.wait_until_indexed()
        assert await canonical_export(engine) == expected
        assert (await count_outdated(engine), language.calls["extract"]) == (0, 3)
        assert await is_clean(engine)
        assert await engine.maintenance.reread_outdated() == 0


async def test_a_choice_that_comes_back_has_nothing_to_read_again(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await fill(engine)
    async with open_memory_engine(tmp_path, ShortLanguage()) as engine:
        assert (await engine.maintenance.measure_outdated()).chunks == 3
    async with open_memory_engine(tmp_path) as engine:
        assert (await engine.maintenance.measure_outdated()).chunks == 0


async def test_what_waits_to_be_read_again_is_left_when_its_choice_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await fill(engine)
    monkeypatch.setattr("engine.storage.ledger.content.readings.QUEUED", "o.queued AND 1 = 0")  # nothing takes them
    async with open_memory_engine(tmp_path, ShortLanguage()) as engine:
        await engine.maintenance.measure_outdated()
        assert await engine._runtime.ledger.readings.queue() == 3
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        assert (await engine.maintenance.measure_outdated()).chunks == await count_outdated(engine) == 0
        assert language.calls["extract"] == 0


async def test_a_scope_counts_its_own_texts_alone(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await fill(engine)
        await engine.documents.add(doc("barn", "Gus met Hal.", space="elsewhere"))
        await engine.wait_until_indexed()
    async with open_memory_engine(tmp_path, ShortLanguage()) as engine:
        assert ((await engine.maintenance.measure_outdated()).chunks, await count_outdated(engine)) == (4, 3)


async def test_a_stop_loses_nothing_and_documents_are_found_meanwhile(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await fill(engine)
    stuck = ShortLanguage()
    stuck.gate.clear()
    async with open_memory_engine(tmp_path, stuck) as engine:
        await engine.maintenance.reread_outdated()
        await stuck.wait_for_calls("extract", 1)
        context = await engine.retrieve(Question("Who lit the kiln?", HERE))
        assert any("lit Kiln" in source.text for source in context.sources)
        assert {document.status for document in await engine.documents.list(HERE)} <= {"searchable", "indexed"}
        assert any("Dora" in line for line in await canonical_export(engine))
    language = ShortLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.wait_until_indexed()
        assert await count_outdated(engine) == 0
        assert not any('"neighbor"' in line for line in await canonical_export(engine))
        assert await is_clean(engine)


async def test_new_texts_come_before_those_that_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.ingest.extract_step.MAX_EXCERPTS", 1)
    async with open_memory_engine(tmp_path) as engine:
        for number in range(40):
            await engine.documents.add(doc(f"old {number}", f"Ada lit Kiln {number}."))
        await engine.wait_until_indexed()
    language = ShortLanguage()
    language.gate.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.maintenance.reread_outdated()
        await language.wait_for_calls("extract", 1)
        await engine.documents.add(doc("new", "Gus met Hal."))
        language.gate.set()
        await engine.wait_until_indexed()
        assert await count_outdated(engine) == 0
    assert next(at for at, text in enumerate(language.read) if "Gus" in text) < 30 < len(language.read) == 41
