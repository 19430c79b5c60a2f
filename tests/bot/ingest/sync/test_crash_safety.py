"""The bot is killed before any of its writes and started again: what it knows in the end is the same."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.platform.events import MessageReceived
from bot.store.database import fetch
from bot.store.sqlite_file import SqliteStore
from engine import ParserLimits
from engine.models import Passage
from engine.parsers.base import ParsedFile
from engine.parts.documents import EngineDocuments
from tests.support import steps
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.builders import ROOF
from tests.support.fake_platform import FakePlatform
from tests.support.steps import DAY, Step, delete_away, edit_away, edit_event, run_steps, say, write

EACH = 2  # every second write of a story is where it is killed in one test


class Killed(BaseException):
    """The process ends here."""


class Killer:
    """Counts writes, and kills before one of them; after the last one there is nothing left to lose."""

    def __init__(self) -> None:
        self.at, self.moments = -1, 0

    def count(self) -> None:
        self.moments += 1
        if self.moments - 1 == self.at:
            raise Killed


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> Killer:
    killer, write = Killer(), SqliteStore.write

    def guard(write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            killer.count()
            return await write(*args, **kwargs)

        return guarded

    async def guarded_write(database: SqliteStore, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        writing = write if work is fetch else guard(write)  # single statements are left out
        return await writing(database, work, *args, **kwargs)

    monkeypatch.setattr(SqliteStore, "write", guarded_write)
    for name in ("add", "amend", "forget", "move_room"):
        monkeypatch.setattr(EngineDocuments, name, guard(getattr(EngineDocuments, name)))
    return killer


class PlainParser:
    """Reads files as they are, in this process."""

    limits = ParserLimits()

    async def stream(self, name: str, data: bytes, *, origin: str = "") -> AsyncGenerator[ParsedFile]:
        yield ParsedFile(name, (Passage("1", data.decode()),))


def start(home: Path, platform: FakePlatform, days: int = 0) -> AbstractAsyncContextManager[BotFixture]:
    return open_bot(home, platform, parser=PlainParser(), backfill_days=days)


def make_day() -> FakePlatform:
    """A window, a thread that grows out of it, a file, and a later window."""
    platform = FakePlatform()
    platform.add_channel("ROOF", "ada", "bob")
    platform.add_message(ROOF, "ada", "Good morning.")
    platform.add_message(ROOF, "bob", "Who has the ladder?")
    tiles = platform.add_file("tiles.txt", b"The tiles come on Monday.")
    platform.add_message(ROOF, "ada", "See the list.", uploads=[tiles])
    platform.add_message(replace(ROOF, thread="m2"), "ada", "Mina.")
    platform.add_message(ROOF, "bob", "Later.", after=3600)
    return platform


def hear(number: int) -> Step:
    """A message is received with its file."""

    async def step(bot: BotFixture) -> None:
        await bot.ingest_service.handle(MessageReceived(steps.find(bot, number), addressed=False))
        await bot.ingest_service.files.ingest(steps.find(bot, number))

    return step


DAY_STEPS = [
    *(lambda bot: bot.rejoin(ROOF), *(hear(number) for number in (1, 2, 4, 5))),
    *(edit_event(1, text="Good evening."), steps.delete_event(4), hear(6), steps.set_kind("closed")),
]


async def run_until_killed(bot: BotFixture, happened: list[Step]) -> int:
    """Gives the number of steps that were finished before the process was killed."""
    for number, step in enumerate(happened):
        try:
            await step(bot)
        except Killed:
            return number
    return len(happened)


async def known(bot: BotFixture) -> object:
    """Everything that a person could find out."""
    texts = await bot.document_texts(ROOF)
    rows = [await bot.store.messages.list_by_document(f"{ROOF.room}:{key}") for key in sorted(texts)]
    facts = [
        (document.key, document.space, document.open, document.title, document.time)
        for document in await bot.list_documents(ROOF)
    ]
    windows = [await bot.store.conversations.get(f"{ROOF.room}:{key}") for key in sorted(texts)]
    files = [(file.document, file.is_applied) for file in await bot.store.files.list_by_workspace("slack", "T1")]
    return texts, rows, facts, windows, files


@pytest.mark.long
@pytest.mark.parametrize("offset", [0, *(pytest.param(number, marks=pytest.mark.long) for number in range(1, EACH))])
async def test_a_day_ends_the_same_wherever_the_process_is_killed(tmp_path: Path, killer: Killer, offset: int) -> None:
    platform = make_day()
    async with start(tmp_path / "whole", platform) as bot:
        first = killer.moments
        await run_steps(bot, DAY_STEPS)
        moments, expected = killer.moments - first, await known(bot)
    for at in range(offset, moments, EACH):
        async with start(tmp_path / str(at), platform) as bot:
            killer.at = killer.moments + at
            reached = await run_until_killed(bot, DAY_STEPS)
        killer.at = -1
        async with start(tmp_path / str(at), platform) as bot:
            assert reached < len(DAY_STEPS)
            await run_steps(bot, DAY_STEPS[reached:])
            assert await known(bot) == expected, f"killed at moment {at} of step {reached}"


@pytest.mark.long
async def test_a_back_fill_ends_the_same_wherever_the_process_is_killed(tmp_path: Path, killer: Killer) -> None:
    platform, at, moments, expected = make_day(), -1, 1, None
    platform.page_size = 2
    while at < moments:
        async with start(tmp_path / str(at), platform, 3650) as bot:
            first = killer.moments
            killer.at = first + at if at >= 0 else -1
            with suppress(Killed):
                await bot.rejoin(ROOF)
            moments = max(moments, killer.moments - first)
        killer.at = -1
        async with start(tmp_path / str(at), platform, 3650) as bot:
            await bot.rejoin(ROOF)
            expected = expected or await known(bot)
            assert await known(bot) == expected, f"killed at moment {at}"
        at += 1


async def miss(bot: BotFixture) -> None:
    """The bot knows a thread and the messages beside it; while it is away, all sorts of things happen."""
    bot.platform.page_size = 2
    bot.platform.add_channel("ROOF", "ada", "bob")
    await bot.rejoin(ROOF)
    known_messages = [say("ada", "Good morning."), say("ada", "Who has the ladder?"), say("bob", "Mina.", thread=2)]
    away = [edit_away(1, "Good evening."), delete_away(3), write("ada", "Thanks.", thread=2)]
    await run_steps(bot, [*known_messages, *away])
    for text in ("See the list.", ""):
        tiles = bot.platform.add_file("tiles.txt", b"The tiles come on Monday.")
        bot.platform.add_message(ROOF, "ada", text, uploads=[tiles], after=3 * DAY)
    await run_steps(bot, [write("bob", "Later.", after=3600)])
    bot.platform.advance(3600)


@pytest.mark.long
async def test_reconciliation_ends_the_same_wherever_the_process_is_killed(tmp_path: Path, killer: Killer) -> None:
    moments, at, expected = 1, -1, None
    while at < moments:
        platform = FakePlatform()
        async with start(tmp_path / str(at), platform) as bot:
            await miss(bot)
            await bot.ingest_service.start_reconciliation("slack")
            first = killer.moments
            killer.at = first + at if at >= 0 else -1
            with suppress(Killed):
                await bot.ingest_service.run_sync()
            moments = max(moments, killer.moments - first)
        killer.at = -1
        async with start(tmp_path / str(at), platform) as bot:
            await run_steps(bot, [say("ada", "Much later.", after=30 * DAY), steps.reconcile(0)])
            expected = expected or await known(bot)
            assert await known(bot) == expected, f"killed at moment {at}"
        at += EACH


@asynccontextmanager
async def start_after_cut_off(home: Path, killer: Killer) -> AsyncIterator[BotFixture]:
    """A bot whose process was killed after it had stored the first message and before the engine had it."""
    platform = FakePlatform()
    platform.add_channel("ROOF", "ada", "bob")
    async with start(home, platform) as bot:
        await bot.rejoin(ROOF)
        killer.at = killer.moments + 2
        with suppress(Killed):
            await say("ada", "Good morning.")(bot)
        known = await bot.store.messages.get(ROOF.room, "m1")
        assert known is not None
        assert not known.is_applied
    killer.at = -1
    async with start(home, platform) as bot:
        yield bot


async def test_messages_join_a_window_whose_first_message_was_cut_off(tmp_path: Path, killer: Killer) -> None:
    async with start_after_cut_off(tmp_path, killer) as bot:
        await run_steps(bot, [write("bob", "Who has the ladder?"), write("ada", "Mina."), steps.reconcile(0)])
        lines = ["Ada: Good morning.", "Bob: Who has the ladder?", "Ada: Mina."]
        assert await bot.document_texts(ROOF) == {"window:m1": lines}


async def test_a_reply_finds_a_root_that_was_cut_off(tmp_path: Path, killer: Killer) -> None:
    async with start_after_cut_off(tmp_path, killer) as bot:
        await run_steps(bot, [write("bob", "It is.", thread=1), steps.reconcile(0)])
        assert await bot.document_texts(ROOF) == {"thread:m1": ["Ada: Good morning.", "Bob: It is."]}
