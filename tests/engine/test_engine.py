"""One document and its progress, only within a scope."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.errors import ModelRefused, NotFound
from engine.models import Extraction, Mention, Scope
from tests.support.engine_fixture import HERE, add_indexed, doc, open_memory_engine
from tests.support.fake_embedder import HashEmbedder

NOWHERE = frozenset[str]()


async def test_a_document_is_given_to_whoever_may_read_its_space_or_its_room(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        document = doc("a", "Ada sells tea.", "Bob drinks it.")
        await engine.documents.add(document)
        await engine.wait_until_indexed()
        assert (await engine.documents.get_status("a", HERE)).status == "indexed"
        for scope in (HERE, Scope(NOWHERE, frozenset({"hall"}))):
            assert await engine.documents.get("a", scope) == document
        for scope in (Scope(NOWHERE, NOWHERE), Scope(frozenset({"there"}), frozenset({"attic"}))):
            with pytest.raises(NotFound):
                await engine.documents.get("a", scope)
            with pytest.raises(NotFound):
                await engine.documents.get_status("a", scope)


async def test_a_document_that_failed_says_why(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing["gibberish"] = ModelRefused("No.", hint="Say it in words.")
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await add_indexed(engine, "gibberish")
        found = await engine.documents.get_status("d0", HERE)
        assert (found.status, found.error, found.hint) == ("failed", "No.", "Say it in words.")


async def test_a_room_that_moves_while_documents_are_added_is_in_one_space(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        adding = [engine.documents.add(doc(f"d{n}", f"Ada sells tea {n}.")) for n in range(12)]
        await asyncio.gather(*adding[:6], engine.documents.move_room("hall", "private"), *adding[6:])
        await engine.documents.add(doc("d0", "Ada sells coffee."))
        await engine.corrections.add_facts("here", "hall", Extraction((Mention("Ada", "person", "She sells."),)))
        assert await engine.documents.list(HERE) == []
        assert len(await engine.documents.list(Scope(frozenset({"private"}), NOWHERE))) == 13
        await engine.wait_until_indexed()
        assert await engine.graph.find_names("", HERE) == []
        assert [line async for line in engine.maintenance.export("jsonl", HERE)] == []
