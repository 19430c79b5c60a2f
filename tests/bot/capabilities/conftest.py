"""Operations on an engine, and a small town of files for them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest

from bot.bootstrap import LazyParts
from bot.capabilities.caller import Caller
from bot.capabilities.deps import BotParts, Deps
from bot.capabilities.documents.lookup import LOCAL_SPACE, file_key
from bot.capabilities.ingest.files import IngestTarget, build_conversations
from bot.capabilities.requests import AtSpace, Envelope, OperationRequest
from bot.capabilities.results import Internal, OperationResult
from bot.capabilities.run import run as run_request
from bot.capabilities.run import run_for_person
from bot.context import EngineContext
from engine.errors import StoreError
from engine.models import Document, Passage
from tests.support.fake_platform import START
from tests.support.plain_settings import plain_settings

Perform = Callable[[OperationRequest], Awaitable[list[OperationResult]]]

Kind = TypeVar("Kind")


class NoParts:
    """An engine alone, without a bot's database."""

    async def find(self) -> BotParts | None:
        return None

    async def open(self) -> BotParts:
        raise StoreError("The bot's database is not open.")


async def run(deps: Deps | EngineContext, request: OperationRequest, space: str = LOCAL_SPACE) -> list[OperationResult]:
    """All results of a request, of the owner at a space unless it comes with its caller."""
    deps = Deps(deps, NoParts(), ends_soon=True) if isinstance(deps, EngineContext) else deps
    request = request if isinstance(request, Envelope) else AtSpace(space, request)
    return [event async for event in run_request(deps, request)]


async def run_as(deps: Deps, caller: Caller, request: OperationRequest) -> list[OperationResult]:
    """All results of a request of a person."""
    results = run_for_person(deps, caller, request)
    return [event async for event in results if not isinstance(event, Internal)]


def last(events: Iterable[OperationResult], kind: type[Kind]) -> Kind:
    """The last result, which is of this kind."""
    *_, event = events
    assert isinstance(event, kind)
    return event


def of_kind(events: Iterable[OperationResult], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def perform(engine_context: EngineContext) -> Perform:
    return lambda request: run(engine_context, request)


@pytest.fixture
async def deps(engine_context: EngineContext) -> AsyncIterator[Deps]:
    """The services of a process beside which no bot runs."""
    parts = LazyParts(engine_context, plain_settings(data_dir=engine_context.engine.data_dir.path))
    yield Deps(engine_context, parts)
    await parts.close()


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A folder with two notes and a chat of two conversations."""
    folder = tmp_path / "town"
    folder.mkdir()
    ferry = "# Ferry\n\nThe ferry leaves at noon. Mina sells tickets for the Gudgeon, which leaves at noon.\n"
    (folder / "ferry.md").write_text(ferry)
    (folder / "tea.txt").write_text("Tea is served by Ada in the Kiosk.\n")
    chat = [("m1", "Ada", "The Kiosk is closed today.", "08"), ("m2", "Mina", "The Gudgeon is late, says Ada.", "14")]
    lines = [
        {"id": id_, "user": user, "text": text, "time": f"2026-05-12T{hour}:00:00Z", "link": f"https://t.example/{id_}"}
        for id_, user, text, hour in chat
    ]
    (folder / "harbour.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture
async def ingested(engine_context: EngineContext, town: Path) -> None:
    """The town is indexed already."""
    for path in (town / "ferry.md", town / "tea.txt"):
        key, passages = file_key(path, LOCAL_SPACE), (Passage("1", path.read_text()),)
        document = Document(key, LOCAL_SPACE, "files", path.name, passages, START, path.as_uri())
        await engine_context.engine.documents.add(document)
    chat, target = town / "harbour.jsonl", IngestTarget(LOCAL_SPACE, "files")
    for document in build_conversations(chat, chat.read_bytes(), target, engine_context.count_tokens):
        await engine_context.engine.documents.add(document)
    await engine_context.engine.wait_until_indexed()
