from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import InvalidReply, StoreError
from engine.ingest import extract_step
from engine.models import Document, Question
from engine.options import EngineOptions
from engine.usage import IndexingUsage
from tests.support.engine_fixture import HERE, canonical_export, doc, open_memory_engine, statuses, thread, wait_until
from tests.support.toy_language import ToyLanguage

TALKS = ["Ada met Bob.", "Carl saw Dora.", "Eve met Ada.", "Fay wrote Gus."]


@pytest.fixture
def language() -> ToyLanguage:
    """A language that extracts several chunks in one call."""
    made = ToyLanguage()
    made.batch_token_limit = 1000
    return made


def talk(text: str, space: str = "here") -> Document:
    return thread(f"{space} {text}", text, is_open=False, space=space)


async def add_talks(engine: Engine, *texts: str, space: str = "here") -> None:
    await asyncio.gather(*(engine.documents.add(talk(text, space)) for text in texts))


async def extracted_facts(folder: Path, language: ToyLanguage) -> list[str]:
    async with open_memory_engine(folder, language) as engine:
        await add_talks(engine, *TALKS)
        await engine.documents.add(doc("file", "Hal and Ada met.", "Ida saw Hal."))
        await engine.wait_until_indexed()
        return await canonical_export(engine)


async def test_shared_calls_find_the_same_facts_as_single_ones(tmp_path: Path, language: ToyLanguage) -> None:
    alone = await extracted_facts(tmp_path / "alone", ToyLanguage())
    assert await extracted_facts(tmp_path / "shared", language) == alone
    assert language.calls["extract"] < len(TALKS)
    language.calls.clear()
    language.unsure = {"Carl", "Eve"}
    assert await extracted_facts(tmp_path / "unsure", language) == alone
    assert language.calls["extract"] >= 3


async def test_a_text_is_extracted_once_a_space_and_never_beside_another(tmp_path: Path, language: ToyLanguage) -> None:
    async with open_memory_engine(tmp_path, language) as engine:
        await add_talks(engine, *TALKS)
        await add_talks(engine, *(text.replace("met", "left") for text in TALKS[::2]), space="there")
        await engine.wait_until_indexed()
        assert len(language.shared_calls) >= 2
        assert all(len({"left" in text for text in call}) == 1 for call in language.shared_calls)
        calls = language.calls["extract"]
        await engine.documents.add(thread("again", TALKS[0], is_open=False))
        await engine.wait_until_indexed()
        assert language.calls["extract"] == calls
        await add_talks(engine, TALKS[0], space="there")
        await engine.wait_until_indexed()
        await engine.maintenance.reindex()
        assert language.calls["extract"] == calls + 1


async def test_a_chunk_on_which_a_shared_call_fails_fails_alone(
    tmp_path: Path, language: ToyLanguage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_step, "retry_delay", lambda _: 0.0)
    language.failing["extract", "Carl"] = InvalidReply("odd")
    async with open_memory_engine(tmp_path, language, options=EngineOptions(max_attempts=2)) as engine:
        await add_talks(engine, *TALKS)
        await engine.wait_until_indexed()
        assert {document.key for document in await engine.documents.list(HERE) if document.error} == {
            "here Carl saw Dora."
        }


async def test_small_conversations_wait_for_others_unless_a_caller_waits(tmp_path: Path, language: ToyLanguage) -> None:
    async with open_memory_engine(tmp_path, language, options=EngineOptions(extraction_linger=3600)) as engine:
        for text in TALKS:
            await add_talks(engine, text)
            await asyncio.sleep(0.05)
        assert not language.calls["extract"]
        await engine.wait_until_indexed()
        assert language.shared_calls == [tuple(TALKS)]


@pytest.mark.parametrize(("linger", "documents"), [(3600.0, [doc("file", "Hal met Ada.")]), (0.1, map(talk, TALKS))])
async def test_a_file_hardly_waits_and_conversations_only_so_long(
    tmp_path: Path, language: ToyLanguage, linger: float, documents: Iterable[Document]
) -> None:
    async with open_memory_engine(tmp_path, language, options=EngineOptions(extraction_linger=linger)) as engine:
        await asyncio.gather(*map(engine.documents.add, documents))
        await language.wait_for_calls("extract", 1)


async def test_a_conversation_that_a_question_finds_waits_no_longer(tmp_path: Path, language: ToyLanguage) -> None:
    async with open_memory_engine(tmp_path, language, options=EngineOptions(extraction_linger=3600)) as engine:
        await add_talks(engine, *TALKS)

        async def is_searchable() -> bool:
            return set((await statuses(engine)).values()) == {"searchable"}

        await wait_until(is_searchable)
        assert not language.calls["extract"]
        found = await engine.retrieve(replace(Question(TALKS[0], HERE), mode="naive"))
        assert found.sources
        await language.wait_for_calls("extract", 1)
        [call] = language.shared_calls
        assert sorted(call) == sorted(TALKS)


async def test_small_talk_costs_no_call_and_is_still_found(tmp_path: Path, language: ToyLanguage) -> None:
    async with open_memory_engine(tmp_path, language) as engine:
        await add_talks(engine, "Thanks everyone!", "haha", "Ada met Bob.")
        await engine.documents.add(doc("file", "Thanks"))
        await engine.wait_until_indexed()
        assert set((await statuses(engine)).values()) == {"indexed"}
        assert "haha" not in str(language.shared_calls)
        assert language.calls["extract"] == 1, "the file and the fact, in one call"
        assert (await engine.maintenance.get_status(HERE)).small_talk == 2
        found = await engine.retrieve(replace(Question("haha", HERE), mode="naive"))
        assert any("haha" in source.text for source in found.sources)


@pytest.mark.long
async def test_notices_that_repeat_a_template_are_read_by_rules(tmp_path: Path, language: ToyLanguage) -> None:
    async with open_memory_engine(tmp_path, language) as engine:
        for number in range(12):
            text = f"[2026-03-02 08:{number:02}] builder: Kiln Nine passed build {number} for Ada"
            await engine.documents.add(thread(f"notice {number}", text, is_open=False))
            await engine.wait_until_indexed()
        assert language.calls["extract"] == 5
        assert set((await statuses(engine)).values()) == {"indexed"}
        assert (await engine.maintenance.measure_outdated()).chunks == 0
        assert any('"Ada"' in line for line in await canonical_export(engine))


async def test_what_a_call_cost_is_recorded_once_if_its_first_record_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        add, recorded, failures = engine._ledger.cache.add_indexing_usage, list[IndexingUsage](), [StoreError("gone")]

        async def fail_once(day: str, usage: IndexingUsage) -> None:
            if failures:
                raise failures.pop()
            recorded.append(usage)
            await add(day, usage)

        monkeypatch.setattr(engine._ledger.cache, "add_indexing_usage", fail_once)
        await engine.documents.add(doc("a", "Ada met Bob."))
        await wait_until(lambda: bool(recorded))
    calls = [call for usage in recorded for call in usage.items if call.purpose == "extract"]
    assert not failures
    assert len(calls) == language.calls["extract"]
