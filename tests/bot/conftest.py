"""A desk, and what comes of requests at it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import LOCAL, file_key
from bot.admin.ingest.files import Place, conversations_of
from bot.admin.operations import work_on
from engine.models import Document, Passage
from tests.support import parrot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.admin.requests import Request
    from bot.admin.results import Event
    from bot.engine_context import Desk

    Perform = Callable[[Request], Awaitable[list[Event]]]

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with parrot.desk(tmp_path / "home") as made:
        yield made


@pytest.fixture
def perform(desk: Desk) -> Perform:
    async def performed(request: Request) -> list[Event]:
        return [event async for event in work_on(desk, request)]

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
async def taken_in(desk: Desk, town: Path) -> None:
    """The town is known already."""
    place = Place(LOCAL, "files")
    for path in (town / "ferry.md", town / "tea.txt"):
        passages = (Passage("1", path.read_text()),)
        document = Document(file_key(path, LOCAL), LOCAL, "files", path.name, passages, NOON, path.as_uri())
        await desk.engine.add(document)
    chat = town / "harbour.jsonl"
    for document in conversations_of(chat, chat.read_bytes(), place, desk.count):
        await desk.engine.add(document)
    await desk.engine.settled()
