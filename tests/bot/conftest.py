"""Bots with and without channels, and an engine context that runs operations."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import LOCAL_SPACE, file_key
from bot.admin.ingest.files import IngestTarget, build_conversations
from bot.admin.operations import run_operation
from bot.store import BotStore
from engine.models import Document, Passage
from tests.support import echo_language
from tests.support.bot_fixture import open_bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.admin.requests import OperationRequest
    from bot.admin.results import OperationResult
    from bot.engine_context import EngineContext
    from bot.platform.models import Location, Message
    from tests.support.bot_fixture import BotFixture

    Perform = Callable[[OperationRequest], Awaitable[list[OperationResult]]]

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
async def bot(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[BotFixture]:
    """A bot that was in no channel yet; `with_settings` gives it settings."""
    async with open_bot(tmp_path / "home", **getattr(request, "param", {})) as opened:
        await opened.store.hints.record_if_new("slack", "T1", "model")
        yield opened


@pytest.fixture
async def roof(bot: BotFixture) -> Location:
    """An open channel of Ada and Bob."""
    return await bot.join("ROOF", "ada", "bob")


@pytest.fixture
async def tiles(bot: BotFixture, roof: Location) -> Message:
    """Its first message, which questions find."""
    return await bot.post_indexed(roof, "ada", "The Tiles come on Monday.")


@pytest.fixture
async def hall(bot: BotFixture) -> Location:
    """An open channel of Bob."""
    return await bot.join("HALL", "bob")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[EngineContext]:
    async with echo_language.open_engine_context(tmp_path / "home") as made:
        yield made


@pytest.fixture
def perform(desk: EngineContext) -> Perform:
    async def performed(request: OperationRequest) -> list[OperationResult]:
        return [event async for event in run_operation(desk, request)]

    return performed


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A folder with two notes, a chat of two conversations and nothing else."""
    folder = tmp_path / "town"
    folder.mkdir()
    (folder / "ferry.md").write_text(
        "# Ferry\n\nThe ferry leaves at noon. Mina sells tickets for the Gudgeon, which leaves at noon.\n"
    )
    (folder / "tea.txt").write_text("Tea is served by Ada in the Kiosk.\n")
    said = [("m1", "Ada", "The Kiosk is closed today.", 8), ("m2", "Mina", "The Gudgeon is late, says Ada.", 14)]
    lines = [
        {
            "id": id_,
            "user": user,
            "text": text,
            "time": f"2026-05-12T{hour:02}:00:00Z",
            "link": f"https://t.example/{id_}",
        }
        for id_, user, text, hour in said
    ]
    (folder / "harbour.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture
async def taken_in(desk: EngineContext, town: Path) -> None:
    """The town is known already."""
    place = IngestTarget(LOCAL_SPACE, "files")
    for path in (town / "ferry.md", town / "tea.txt"):
        passages = (Passage("1", path.read_text()),)
        document = Document(file_key(path, LOCAL_SPACE), LOCAL_SPACE, "files", path.name, passages, NOON, path.as_uri())
        await desk.engine.add(document)
    chat = town / "harbour.jsonl"
    for document in build_conversations(chat, chat.read_bytes(), place, desk.count_tokens):
        await desk.engine.add(document)
    await desk.engine.wait_until_indexed()
