"""What lists lack is remembered until it is found or forgotten, and asked for in turns."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.store import BotStore, MessageRecord
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ROOM = "slack:T1:ROOF"
IDS = ("m1", "m2", "m3")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        said = [
            MessageRecord(ROOM, id_, "", "ada", START + timedelta(minutes=at), "digest") for at, id_ in enumerate(IDS)
        ]
        await opened.messages.insert(said)
        await opened.unconfirmed_deletions.add(ROOM, [*IDS, "unknown"])
        yield opened


async def test_the_newest_of_those_that_were_asked_for_least_often_are_first(store: BotStore) -> None:
    assert await store.unconfirmed_deletions.list_next(ROOM, 9) == ["m3", "m2", "m1"]
    await store.unconfirmed_deletions.record_checks(ROOM, ["m3"])
    await store.unconfirmed_deletions.add(ROOM, IDS)
    assert await store.unconfirmed_deletions.list_next(ROOM, 2) == ["m2", "m1"]
    assert await store.unconfirmed_deletions.has_unchecked(ROOM)
    await store.unconfirmed_deletions.record_checks(ROOM, ["m2", "m1"])
    assert await store.unconfirmed_deletions.list_next(ROOM, 9) == ["m3", "m2", "m1"]
    assert not await store.unconfirmed_deletions.has_unchecked(ROOM)


async def test_what_is_there_or_forgotten_is_not_missing(store: BotStore) -> None:
    await store.unconfirmed_deletions.delete(ROOM, ["m1"])
    await store.messages.delete(ROOM, ["m2"])
    assert await store.unconfirmed_deletions.list_next(ROOM, 9) == ["m3"]
    await store.delete_workspace("slack", "T1")
    assert await store.unconfirmed_deletions.list_next(ROOM, 9) == []
