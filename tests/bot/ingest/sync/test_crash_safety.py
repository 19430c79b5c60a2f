"""Listening is killed before or after any of its writes, and started again: what is known in the end is the same."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.platform.events import Changed, Deleted, Edited, Heard, Joined
from bot.store.database import Database
from engine.engine import Engine
from engine.models import Passage
from engine.parsers import Read
from tests.support.fake_platform import FakePlatform
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from bot.platform.events import Happening
    from bot.platform.models import Place
    from bot.store.database import Transaction
    from tests.support.household import Household

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
    made, transaction = Executioner(), Database.transaction

    @asynccontextmanager
    async def guarded(database: Database) -> AsyncIterator[Transaction]:
        made.moment()
        async with transaction(database) as begun:
            yield begun
        made.moment()

    monkeypatch.setattr(Database, "transaction", guarded)
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

    async def read(self, name: str, data: bytes) -> Read:
        return Read(name, (Passage("1", data.decode()),))


def _day() -> tuple[FakePlatform, Place, list[Happening]]:
    """A window, a thread that grows out of it, an edit, a file, a deletion, and the channel turns private."""
    platform = FakePlatform()
    roof = platform.open("ROOF", "ada", "bob")
    morning = platform.say(roof, "ada", "Good morning.")
    ladder = platform.say(roof, "bob", "Who has the ladder?")
    uploads = [platform.upload("tiles.txt", b"The tiles come on Monday.")]
    tiles = platform.say(roof, "ada", "See the list.", uploads=uploads)
    mina = platform.say(replace(roof, thread=ladder.id), "ada", "Mina.")
    later = platform.say(roof, "bob", "Later.", after=3600)
    told = [Heard(each, addressed=False) for each in (morning, ladder, tiles, mina, later)]
    edited = Edited(replace(morning, text="Good evening.", edited="+"))
    gone = Deleted(roof, (tiles.id,))
    return platform, roof, [Joined(roof), *told[:4], edited, gone, told[4], Changed(roof)]


async def _lived(home: Household, told: Sequence[Happening]) -> int:
    """Tell what happens; gives the number of happenings that were handled before the process was killed."""
    for number, each in enumerate(told):
        try:
            await home.listening.take(each)
            if isinstance(each, Heard):
                await home.listening.filing.take(each.message)
        except Killed:
            return number
    return len(told)


async def _known(home: Household, place: Place) -> object:
    """All that a person could find out."""
    store = home.house.store
    texts = await home.texts(place)
    rows = [await store.messages.of_document(f"{place.room}:{key}") for key in sorted(texts)]
    facts = [(each.key, each.space, each.open, each.title, each.time) for each in await home.documents(place)]
    windows = [await store.windows.get(f"{place.room}:{key}") for key in sorted(texts)]
    files = [(each.document, each.settled) for each in await store.files.of_workspace(place.platform, place.workspace)]
    return texts, rows, facts, windows, files


@pytest.mark.parametrize("offset", range(EACH))
async def test_a_day_ends_the_same_however_often_the_process_is_killed(
    tmp_path: Path, executioner: Executioner, offset: int
) -> None:
    platform, roof, told = _day()
    platform.change("ROOF", kind="closed")
    async with household(tmp_path / "whole", platform, reader=PlainReader(), backfill_days=0) as home:
        start = executioner.moments
        await _lived(home, told)
        moments = executioner.moments - start
        expected = await _known(home, roof)
    for at in range(offset, moments, EACH):
        folder = tmp_path / str(at)
        async with household(folder, platform, reader=PlainReader(), backfill_days=0) as home:
            executioner.at = executioner.moments + at
            reached = await _lived(home, told)
        executioner.at = -1
        async with household(folder, platform, reader=PlainReader(), backfill_days=0) as home:
            assert reached < len(told)
            await _lived(home, told[reached:])
            assert await _known(home, roof) == expected, f"killed at moment {at} of {told[reached]}"


async def test_a_back_fill_ends_the_same_wherever_the_process_is_killed(
    tmp_path: Path, executioner: Executioner
) -> None:
    platform, roof, _ = _day()
    platform.page = 2
    facts: dict[str, Any] = {"reader": PlainReader(), "backfill_days": 3650}
    async with household(tmp_path / "whole", platform, **facts) as home:
        await home.listening.take(Joined(roof))
        start = executioner.moments
        await home.listening.past()
        moments = executioner.moments - start
        expected = await _known(home, roof)
    for at in range(moments):
        async with household(tmp_path / str(at), platform, **facts) as home:
            await home.listening.take(Joined(roof))
            executioner.at = executioner.moments + at
            with pytest.raises(Killed):
                await home.listening.past()
        executioner.at = -1
        async with household(tmp_path / str(at), platform, **facts) as home:
            await home.listening.past()
            assert await _known(home, roof) == expected, f"killed at moment {at}"


async def _missed(home: Household, platform: FakePlatform) -> Place:
    """The bot knows of a thread and of what is beside it; while it is away, all sorts of things happen."""
    roof = platform.open("ROOF", "ada", "bob")
    await home.listening.take(Joined(roof))
    morning, ladder = [await home.say(roof, "ada", word) for word in ("Good morning.", "Who has the ladder?")]
    mina = await home.say(replace(roof, thread=ladder.id), "bob", "Mina.")
    platform.edit(morning, "Good evening.")
    platform.delete(mina)
    platform.say(replace(roof, thread=ladder.id), "ada", "Thanks.")
    tiles = [platform.upload(f"{name}.txt", b"The tiles come on Monday.") for name in ("one", "two")]
    platform.say(roof, "ada", "See the list.", uploads=tiles[:1], after=3 * 86400)
    platform.say(roof, "ada", "", uploads=tiles[1:], after=3 * 86400)
    platform.say(roof, "bob", "Later.", after=3600)
    platform.wait(3600)
    return roof


async def test_catching_up_ends_the_same_wherever_the_process_is_killed(
    tmp_path: Path, executioner: Executioner
) -> None:
    facts: dict[str, Any] = {"reader": PlainReader(), "backfill_days": 0}
    moments, at, expected = 1, -1, None
    while at < moments:
        platform = FakePlatform()
        platform.page = 2
        async with household(tmp_path / str(at), platform, **facts) as home:
            roof = await _missed(home, platform)
            await home.listening.catch_up("slack")
            start = executioner.moments
            executioner.at = start + at if at >= 0 else -1
            with suppress(Killed):
                await home.listening.past()
            moments = max(moments, executioner.moments - start)
        executioner.at = -1
        async with household(tmp_path / str(at), platform, **facts) as home:
            await home.say(roof, "ada", "Much later.", after=30 * 86400)
            await home.listening.catch_up("slack")
            await home.listening.past()
            known = await _known(home, roof)
            expected = expected or known
            assert known == expected, f"killed at moment {at}"
        at += EACH
