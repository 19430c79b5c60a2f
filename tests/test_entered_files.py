"""How many of our files an event enters: what somebody has to know who follows it through the code."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Self

import httpx
import pytest

from adapters.web.app import build_app
from bot.bot import Bot
from bot.platform.events import MessageEdited, MessageReceived, MessagesDeleted
from bot.rpc.service import LocalService
from bot.store import Subject
from engine.scheduling.supervisor import Supervisor
from engine.storage.sqlite.database import SqliteDatabase
from tests.support.bot_fixture import BotFixture, open_bot

is_in_background = ContextVar("is_in_background", default=False)
ROOT = Path(__file__).parent.parent
PRODUCT = tuple(f"{ROOT / name}/" for name in ("adapters", "bot", "engine"))
# The most files that each event may enter. Where background work is part of an event, its timing decides about some.
LIMITS = {"mention": 146, "upload": 112, "edit": 100, "delete": 94, "query": 142}


class EnteredFiles:
    """Notes the product files of which a function runs, in any thread that is started after it."""

    def __init__(self) -> None:
        self._names: set[str] | None = None
        self._with_background = True
        self.counts = dict[str, int]()

    def __enter__(self) -> Self:
        threading.setprofile(self._record)
        sys.setprofile(self._record)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    @contextmanager
    def count(self, event: str, *, with_background: bool) -> Iterator[None]:
        """Count the files that are entered meanwhile; of several times the least, as other work runs beside it.

        `with_background`: also by what a supervisor repeats, which indexes documents.
        """
        names = self._names = set[str]()
        self._with_background = with_background
        yield
        self._names = None
        self.counts[event] = min(len(names), self.counts.get(event, len(names)))

    def _record(self, frame: FrameType, event: str, _: Any) -> None:
        names, name = self._names, frame.f_code.co_filename
        if names is None or name in names or event != "call" or not name.startswith(PRODUCT):
            return
        if frame.f_code.co_name != "<module>" and (self._with_background or not is_in_background.get()):
            names.add(name)


def mark_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let code know whether a supervisor repeats it, in tasks and threads that it starts, too."""
    run, spawn, read, write = Supervisor.run, Supervisor.spawn, SqliteDatabase.read, SqliteDatabase.write

    def in_task(start: Callable[..., Any], *, repeated: bool) -> Callable[..., Any]:
        def started(*args: Any, **kwargs: Any) -> Any:
            token = is_in_background.set(repeated)
            try:
                return start(*args, **kwargs)
            finally:
                is_in_background.reset(token)

        return started

    def in_thread(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(database: SqliteDatabase, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            return call(database, partial(copy_context().run, work), *args, **kwargs)

        return called

    monkeypatch.setattr(Supervisor, "run", in_task(run, repeated=True))
    monkeypatch.setattr(Supervisor, "spawn", in_task(spawn, repeated=False))
    monkeypatch.setattr(SqliteDatabase, "read", in_thread(read))
    monkeypatch.setattr(SqliteDatabase, "write", in_thread(write))


async def settle(opened: BotFixture, bot: Bot) -> None:
    await bot.event_queue.wait_until_idle()
    await opened.engine.wait_until_indexed()
    await bot.event_queue.wait_until_idle()


@asynccontextmanager
async def calling(bot: Bot, person: str) -> AsyncIterator[httpx.AsyncClient]:
    """The HTTP API, as a person calls it."""
    service = LocalService(bot.deps)
    access = (await bot.deps.parts.open()).access
    _, token = await access.create_token("t", Subject("slack", "T1", person), ("ask",), 1000, None)
    transport = httpx.ASGITransport(build_app(service, service.clock))
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver", headers=headers) as client:
        yield client


async def test_an_event_enters_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark_background(monkeypatch)
    with EnteredFiles() as entered:
        async with open_bot(tmp_path) as opened, opened.run_bot() as bot:
            platform, place = opened.platform, await opened.join("HALL", "ada", "bob")
            await opened.post_indexed(place, "ada", "The Tiles come on Monday.")
            await opened.ask(place, "bob", "Who brings the Tiles?")
            for number, words in enumerate(("When do the Tiles come?", "On which day do the Tiles come?")):
                asking = platform.add_message(place, "bob", f"<@BOT> {words}")
                with entered.count("mention", with_background=False):
                    await bot.receive(MessageReceived(asking, addressed=True), f"k1.{number}")
                    await bot.event_queue.wait_until_idle()  # nothing of a question is indexed
                assert "Monday" in opened.last_reply.text
            for thing in ("Paint", "Glass"):
                shared = opened.share(
                    place, platform.add_file(f"{thing}.txt", f"The {thing} comes on Friday.".encode())
                )
                with entered.count("upload", with_background=True):
                    await bot.receive(MessageReceived(shared, addressed=False), thing)
                    await settle(opened, bot)
                assert thing in str(await opened.document_texts(place))
            posted = await opened.post_indexed(place, "ada", "The Nails come on Friday.")
            with entered.count("edit", with_background=True):
                await bot.receive(MessageEdited(platform.edit_message(posted, "The Nails come on Sunday.")), "k3")
                await settle(opened, bot)
            assert "Sunday" in str(await opened.document_texts(place))
            platform.delete_message(posted)
            with entered.count("delete", with_background=True):
                await bot.receive(MessagesDeleted(place, (posted.id,)), "k4")
                await settle(opened, bot)
            assert "Nails" not in str(await opened.document_texts(place))
            async with calling(bot, "bob") as client:
                for words in ("When do the Tiles come?", "On which day do the Tiles come?"):
                    with entered.count("query", with_background=False):
                        response = await client.post("/api/v1/query", json={"question": words})
                    assert "Monday" in response.text, response.text
    assert {event: count for event, count in entered.counts.items() if count > LIMITS[event]} == {}
