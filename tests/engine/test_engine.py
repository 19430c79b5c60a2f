"""The engine's face: one document, and how far it has come, only within a scope."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from engine.errors import ModelRefused, NotFound
from engine.models import Extraction, Mention, Scope
from tests.support.engine_fixture import HERE, doc, open_memory_engine
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

NOWHERE = frozenset[str]()


async def test_a_document_is_given_to_whoever_may_read_its_space_or_its_room(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        given = doc("a", "Ada sells tea.", "Bob drinks it.")
        await engine.add(given)
        assert await engine.get_document("a", HERE) == given
        assert await engine.get_document("a", Scope(NOWHERE, frozenset({"hall"}))) == given
        for scope in (Scope(NOWHERE, NOWHERE), Scope(frozenset({"there"}), frozenset({"attic"}))):
            with pytest.raises(NotFound):
                await engine.get_document("a", scope)
            with pytest.raises(NotFound):
                await engine.get_document_status("a", scope)
        with pytest.raises(NotFound):
            await engine.get_document("b", HERE)


async def test_a_document_is_searchable_once_it_is_embedded(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada sells tea."))
        await engine.wait_until_indexed()
        assert (await engine.get_document_status("a", HERE)).is_searchable


async def test_a_document_that_failed_says_why(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing["gibberish"] = ModelRefused("No.", hint="Say it in words.")
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", "gibberish"))
        await engine.wait_until_indexed()
        stage = await engine.get_document_status("a", HERE)
        assert (stage.status, stage.error, stage.hint, stage.is_searchable) == (
            "failed",
            "No.",
            "Say it in words.",
            False,
        )


async def test_a_room_that_moves_while_documents_are_added_is_in_one_space(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        late = [engine.add(doc(f"d{n}", f"Ada sells tea {n}.")) for n in range(12)]
        await asyncio.gather(*late[:6], engine.move_room("hall", "private"), *late[6:])
        await engine.add(doc("d0", "Ada sells coffee."))
        await engine.add_facts("here", "hall", Extraction((Mention("Ada", "person", "She sells."),)))
        assert await engine.list_documents(HERE) == []
        assert len(await engine.list_documents(Scope(frozenset({"private"}), NOWHERE))) == 13
        await engine.wait_until_indexed()
        assert await engine.find_names("", HERE) == []
        assert [line async for line in engine.export("jsonl", HERE)] == []
