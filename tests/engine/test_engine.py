"""The engine's face: one document, and how far it has come, only within a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import NotFound, Refused
from engine.records import Scope
from tests.fakes.embedder import HashEmbedder
from tests.fakes.engines import HERE, doc, light_engine

if TYPE_CHECKING:
    from pathlib import Path

NOWHERE = frozenset[str]()


async def test_a_document_is_given_to_whoever_may_read_its_space_or_its_room(tmp_path: Path) -> None:
    async with light_engine(tmp_path) as engine:
        given = doc("a", "Ada sells tea.", "Bob drinks it.")
        await engine.add(given)
        assert await engine.document("a", HERE) == given
        assert await engine.document("a", Scope(NOWHERE, frozenset({"hall"}))) == given
        for scope in (Scope(NOWHERE, NOWHERE), Scope(frozenset({"there"}), frozenset({"attic"}))):
            with pytest.raises(NotFound):
                await engine.document("a", scope)
            with pytest.raises(NotFound):
                await engine.stage("a", scope)
        with pytest.raises(NotFound):
            await engine.document("b", HERE)


async def test_a_document_is_searchable_once_it_is_embedded(tmp_path: Path) -> None:
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada sells tea."))
        await engine.settled()
        assert (await engine.stage("a", HERE)).searchable


async def test_a_document_that_failed_says_why(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing["gibberish"] = Refused("No.", hint="Say it in words.")
    async with light_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", "gibberish"))
        await engine.settled()
        stage = await engine.stage("a", HERE)
        assert (stage.status, stage.error, stage.hint, stage.searchable) == ("failed", "No.", "Say it in words.", False)
