from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.models import Document, Passage
from engine.options import ChunkingOptions, EngineOptions
from engine.storage.ledger.full_text import search_words
from tests.support.engine_fixture import HERE, doc, fetch_rows, open_memory_engine

GERMAN = "Die Boote haben Lecks, und wir müssen sie noch heute flicken."


async def save_is_needed(engine: Engine, document: Document) -> bool:
    chunking = repr(engine._runtime.options.chunking)
    return not await engine._ledger.documents.is_current(document, chunking)


async def test_a_document_that_is_stored_as_it_is_needs_no_writing(tmp_path: Path) -> None:
    given = doc("d", "One line.", "Another line.")
    async with open_memory_engine(tmp_path) as engine:
        assert await save_is_needed(engine, given)
        assert await engine.documents.add(given)
        assert not await save_is_needed(engine, given)
        assert not await engine.documents.add(given)
        first, second = given.passages
        for other in (
            replace(given, title="Other"),
            replace(given, space="there"),
            replace(given, room="cellar"),
            replace(given, passages=(first,)),
            replace(given, passages=(first, replace(second, text="Changed."))),
            replace(given, passages=(*given.passages, Passage("p9", "More.", position=9))),
        ):
            assert await save_is_needed(engine, other)
        assert [found.key for found in await engine.documents.list(HERE)] == ["d"]


async def test_a_document_in_a_moved_room_is_current_wherever_its_sender_thinks_it_is(tmp_path: Path) -> None:
    given = doc("d", "One line.")
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(given)
        await engine.documents.move_room("hall", "there")
        assert not await save_is_needed(engine, given)


async def test_documents_are_cut_again_after_the_chunking_changed(tmp_path: Path) -> None:
    given = doc("d", *(f"Line {number} of the long text." for number in range(40)))
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(given)
    other = EngineOptions(chunking=ChunkingOptions(size=60, overlap=10, target_size=30))
    async with open_memory_engine(tmp_path, options=other) as engine:
        assert await engine.documents.add(given)
        assert len(await fetch_rows(engine._ledger, "SELECT id FROM chunk")) > 3


async def test_stems_are_made_before_the_transaction_that_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(text: str) -> str:
        raise AssertionError(text)

    monkeypatch.setattr(search_words, "join_stem_terms", refuse)
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(doc("d", GERMAN))
        await engine.documents.amend("d", upsert=[Passage("p1", GERMAN.replace("Boote", "Kähne"), position=1)])
        rows = await fetch_rows(engine._ledger, "SELECT stems FROM chunk")
    assert all("boot" in terms for (terms,) in rows)
    assert any("kahn" in terms for (terms,) in rows)
