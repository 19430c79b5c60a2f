"""Listening is killed before or after any of its writes, and started again: what is known in the end is the same."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.platform.events import BotAdded, MessageEdited, MessageReceived, MessagesDeleted, VisibilityChanged
from bot.store.database import Database, fetch
from engine import ParsedFile
from engine.engine import Engine
from engine.models import Passage
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from bot.platform.events import PlatformEvent
    from bot.platform.models import Location
    from tests.support.bot_fixture import BotFixture

EACH = 3  # every third write of a story is where it is killed in one run of the tests


class Killed(BaseException):
    """The process is gone."""


@dataclass(slots=True)
class Executioner:
    """Counts the moments before and after writes, and kills at one of them."""

    at: int = -1
    moments: int = 0

    def moment(self) -> None:
        """Before or after a write."""
        self.moments += 1
        if self.moments - 1 == self.at:
            raise Killed


@pytest.fixture
def executioner(monkeypatch: pytest.MonkeyPatch) -> Executioner:
    made, write = Executioner(), Database.write

    async def guarded(database: Database, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        guard = write if work is fetch else _guarded(write, made)  # single statements are left out
        return await guard(database, work, *args, **kwargs)

    monkeypatch.setattr(Database, "write", guarded)
    for name in ("add", "amend", "forget", "move_room"):
        monkeypatch.setattr(Engine, name, _guarded(getattr(Engine, name), made))
    return made


def _guarded(write: Callable[..., Awaitable[Any]], executioner: Executioner) -> Callable[..., Awaitable[Any]]:
    async def guarded(*args: Any, **kwargs: Any) -> Any:
        executioner.moment()
        result = await write(*args, **kwargs)
        executioner.moment()
        return result

    return guarded


class PlainReader:
    """Reads files as they are, in this process."""

    async def parse(self, name: str, data: bytes) -> ParsedFile:
        return ParsedFile(name, (Passage("1", data.decode()),))


def _day() -> tuple[FakePlatform, Location, list[PlatformEvent]]:
    """A window, a thread that grows out of it, an edit, a file, a deletion, and the channel turns private."""
    platform = FakePlatform()
    roof = platform.add_channel("ROOF", "ada", "bob")
    morning = platform.add_message(roof, "ada", "Good morning.")
    ladder = platform.add_message(roof, "bob", "Who has the ladder?")
    uploads = [platform.add_file("tiles.txt", b"The tiles come on Monday.")]
    tiles = platform.add_message(roof, "ada", "See the list.", uploads=uploads)
    mina = platform.add_message(replace(roof, thread=ladder.id), "ada", "Mina.")
    later = platform.add_message(roof, "bob", "Later.", after=3600)
    told = [MessageReceived(each, addressed=False) for each in (morning, ladder, tiles, mina, later)]
    edited = MessageEdited(replace(morning, text="Good evening.", edited="+"))
    gone = MessagesDeleted(roof, (tiles.id,))
    return platform, roof, [BotAdded(roof), *told[:4], edited, gone, told[4], VisibilityChanged(roof)]


async def _lived(home: BotFixture, told: Sequence[PlatformEvent]) -> int:
    """Tell what happens; gives the number of happenings that were handled before the process was killed."""
    for number, each in enumerate(told):
        try:
            await home.ingest_service.handle(each)
            if isinstance(each, MessageReceived):
                await home.ingest_service.files.ingest(each.message)
        except Killed:
            return number
    return len(told)


async def _known(home: BotFixture, place: Location) -> object:
    """All that a person could find out."""
    store = home.context.store
    texts = await home.document_texts(place)
    rows = [await store.messages.list_by_document(f"{place.room}:{key}") for key in sorted(texts)]
    facts = [(each.key, each.space, each.open, each.title, each.time) for each in await home.list_documents(place)]
    windows = [await store.conversations.get(f"{place.room}:{key}") for key in sorted(texts)]
    files = [
        (each.document, each.is_applied)
        for each in await store.files.list_by_workspace(place.platform, place.workspace)
    ]
    return texts, rows, facts, windows, files


@pytest.mark.parametrize("offset", range(EACH))
async def test_a_day_ends_the_same_however_often_the_process_is_killed(
    tmp_path: Path, executioner: Executioner, offset: int
) -> None:
    platform, roof, told = _day()
    platform.change_channel("ROOF", kind="closed")
    async with open_bot_fixture(tmp_path / "whole", platform, reader=PlainReader(), backfill_days=0) as home:
        start = executioner.moments
        await _lived(home, told)
        moments = executioner.moments - start
        expected = await _known(home, roof)
    for at in range(offset, moments, EACH):
        folder = tmp_path / str(at)
        async with open_bot_fixture(folder, platform, reader=PlainReader(), backfill_days=0) as home:
            executioner.at = executioner.moments + at
            reached = await _lived(home, told)
        executioner.at = -1
        async with open_bot_fixture(folder, platform, reader=PlainReader(), backfill_days=0) as home:
            assert reached < len(told)
            await _lived(home, told[reached:])
            assert await _known(home, roof) == expected, f"killed at moment {at} of {told[reached]}"


async def test_a_back_fill_ends_the_same_wherever_the_process_is_killed(
    tmp_path: Path, executioner: Executioner
) -> None:
    platform, roof, _ = _day()
    platform.page_size = 2
    facts: dict[str, Any] = {"reader": PlainReader(), "backfill_days": 3650}
    async with open_bot_fixture(tmp_path / "whole", platform, **facts) as home:
        await home.ingest_service.handle(BotAdded(roof))
        start = executioner.moments
        await home.ingest_service.run_sync()
        moments = executioner.moments - start
        expected = await _known(home, roof)
    for at in range(moments):
        async with open_bot_fixture(tmp_path / str(at), platform, **facts) as home:
            await home.ingest_service.handle(BotAdded(roof))
            executioner.at = executioner.moments + at
            with pytest.raises(Killed):
                await home.ingest_service.run_sync()
        executioner.at = -1
        async with open_bot_fixture(tmp_path / str(at), platform, **facts) as home:
            await home.ingest_service.run_sync()
            assert await _known(home, roof) == expected, f"killed at moment {at}"


async def _missed(home: BotFixture, platform: FakePlatform) -> Location:
    """The bot knows of a thread and of what is beside it; while it is away, all sorts of things happen."""
    roof = platform.add_channel("ROOF", "ada", "bob")
    await home.ingest_service.handle(BotAdded(roof))
    morning, ladder = [await home.post(roof, "ada", word) for word in ("Good morning.", "Who has the ladder?")]
    mina = await home.post(replace(roof, thread=ladder.id), "bob", "Mina.")
    platform.edit_message(morning, "Good evening.")
    platform.delete_message(mina)
    platform.add_message(replace(roof, thread=ladder.id), "ada", "Thanks.")
    tiles = [platform.add_file(f"{name}.txt", b"The tiles come on Monday.") for name in ("one", "two")]
    platform.add_message(roof, "ada", "See the list.", uploads=tiles[:1], after=3 * 86400)
    platform.add_message(roof, "ada", "", uploads=tiles[1:], after=3 * 86400)
    platform.add_message(roof, "bob", "Later.", after=3600)
    platform.advance(3600)
    return roof


async def test_catching_up_ends_the_same_wherever_the_process_is_killed(
    tmp_path: Path, executioner: Executioner
) -> None:
    facts: dict[str, Any] = {"reader": PlainReader(), "backfill_days": 0}
    moments, at, expected = 1, -1, None
    while at < moments:
        platform = FakePlatform()
        platform.page_size = 2
        async with open_bot_fixture(tmp_path / str(at), platform, **facts) as home:
            roof = await _missed(home, platform)
            await home.ingest_service.start_reconciliation("slack")
            start = executioner.moments
            executioner.at = start + at if at >= 0 else -1
            with suppress(Killed):
                await home.ingest_service.run_sync()
            moments = max(moments, executioner.moments - start)
        executioner.at = -1
        async with open_bot_fixture(tmp_path / str(at), platform, **facts) as home:
            await home.post(roof, "ada", "Much later.", after=30 * 86400)
            await home.ingest_service.start_reconciliation("slack")
            await home.ingest_service.run_sync()
            known = await _known(home, roof)
            expected = expected or known
            assert known == expected, f"killed at moment {at}"
        at += EACH
