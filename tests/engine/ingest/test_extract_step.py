from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.errors import ModelUnavailable, ModelUnreachable
from engine.ingest import extract_step
from engine.options import EngineOptions
from tests.support.engine_fixture import HERE, canonical_export, doc, open_memory_engine, thread
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from engine.engine import Engine

TALKS = ["Ada met Bob.", "Carl saw Dora.", "Eve met Ada.", "Fay wrote Gus."]


def sharing(tokens: int = 1000) -> ToyLanguage:
    language = ToyLanguage()
    language.batch_token_limit = tokens
    return language


async def told(engine: Engine, *texts: str, space: str = "here") -> None:
    await asyncio.gather(*(engine.add(thread(f"{space} {text}", text, is_open=False, space=space)) for text in texts))


async def facts(folder: Path, language: ToyLanguage) -> list[str]:
    async with open_memory_engine(folder, language) as engine:
        await told(engine, *TALKS)
        await engine.add(doc("file", "Hal and Ada met.", "Ida saw Hal."))
        await engine.wait_until_indexed()
        return await canonical_export(engine)


async def test_facts_of_shared_calls_land_under_their_own_chunks(tmp_path: Path) -> None:
    language = sharing()
    shared = await facts(tmp_path / "shared", language)
    assert language.calls["extract"] < len(TALKS)
    assert shared == await facts(tmp_path / "alone", ToyLanguage())


async def test_no_call_holds_two_spaces(tmp_path: Path) -> None:
    language = sharing()
    async with open_memory_engine(tmp_path, language) as engine:
        await told(engine, *TALKS)
        await told(engine, *(text.replace("met", "left") for text in TALKS[::2]), space="there")
        await engine.wait_until_indexed()
        assert len(language.shared_calls) >= 2
        assert all(len({"left" in text for text in call}) == 1 for call in language.shared_calls)


async def test_a_text_is_read_once_in_a_space_and_never_with_what_stood_beside_it_in_another(tmp_path: Path) -> None:
    language = sharing()
    async with open_memory_engine(tmp_path, language) as engine:
        await told(engine, *TALKS)
        await engine.wait_until_indexed()
        calls = language.calls["extract"]
        await engine.add(thread("again", TALKS[0], is_open=False))
        await engine.wait_until_indexed()
        assert language.calls["extract"] == calls
        await told(engine, TALKS[0], space="there")
        await engine.wait_until_indexed()
        assert language.calls["extract"] == calls + 1
        await engine.rebuild()
        assert language.calls["extract"] == calls + 1


async def test_what_a_shared_reply_is_not_trusted_for_is_read_alone(tmp_path: Path) -> None:
    language = sharing()
    language.unsure = {"Carl", "Eve"}
    shared = await facts(tmp_path / "shared", language)
    assert shared == await facts(tmp_path / "alone", ToyLanguage())
    assert language.calls["extract"] >= 3


async def test_a_chunk_on_which_a_shared_call_fails_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_step, "retry_delay", lambda _: 0.0)
    language = sharing()
    language.failing["extract", "Carl"] = ModelUnavailable("away")
    async with open_memory_engine(tmp_path, language, options=EngineOptions(max_attempts=2)) as engine:
        await told(engine, *TALKS)
        await engine.wait_until_indexed()
        assert {each.key for each in await engine.list_documents(HERE) if each.error} == {"here Carl saw Dora."}


async def test_a_model_out_of_reach_counts_as_no_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_step, "ERROR_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(extract_step, "retry_delay", lambda _: 0.0)
    language = sharing()
    language.failing["extract", ""] = ModelUnreachable("nobody is there")
    async with open_memory_engine(
        tmp_path, language, options=EngineOptions(max_attempts=1, extraction_linger=0.0)
    ) as engine:
        await told(engine, *TALKS)
        await language.wait_for_calls("extract", 8)
        language.failing.clear()
        async with asyncio.timeout(20):
            await engine.wait_until_indexed()
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}


async def test_small_conversations_wait_for_others_unless_somebody_waits_for_them(tmp_path: Path) -> None:
    language = sharing()
    async with open_memory_engine(tmp_path, language, options=EngineOptions(extraction_linger=3600)) as engine:
        for text in TALKS:
            await told(engine, text)
            await asyncio.sleep(0.05)
        assert not language.shared_calls
        assert not language.calls["extract"]
        await engine.wait_until_indexed()
        assert language.shared_calls == [tuple(TALKS)]


async def test_a_file_hardly_waits(tmp_path: Path) -> None:
    language = sharing()
    async with open_memory_engine(tmp_path, language, options=EngineOptions(extraction_linger=3600)) as engine:
        await engine.add(doc("file", "Hal and Ada met."))
        await language.wait_for_calls("extract", 1)


async def test_conversations_wait_only_so_long(tmp_path: Path) -> None:
    language = sharing()
    async with open_memory_engine(tmp_path, language, options=EngineOptions(extraction_linger=0.1)) as engine:
        await told(engine, *TALKS)
        await language.wait_for_calls("extract", 1)
