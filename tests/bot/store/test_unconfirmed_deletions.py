"""What lists lack is remembered until it is found or forgotten, and asked for in turns."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.store import Known, Store
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ROOM = "slack:T1:ROOF"
IDS = ("m1", "m2", "m3")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        said = [Known(ROOM, id_, "", "ada", START + timedelta(minutes=at), "digest") for at, id_ in enumerate(IDS)]
        await opened.messages.note(said)
        await opened.missing.note(ROOM, [*IDS, "unknown"])
        yield opened


async def test_the_newest_of_those_that_were_asked_for_least_often_are_first(store: Store) -> None:
    assert await store.missing.first(ROOM, 9) == ["m3", "m2", "m1"]
    await store.missing.note_asked(ROOM, ["m3"])
    await store.missing.note(ROOM, IDS)
    assert await store.missing.first(ROOM, 2) == ["m2", "m1"]
    assert await store.missing.unasked(ROOM)
    await store.missing.note_asked(ROOM, ["m2", "m1"])
    assert await store.missing.first(ROOM, 9) == ["m3", "m2", "m1"]
    assert not await store.missing.unasked(ROOM)


async def test_what_is_there_or_forgotten_is_not_missing(store: Store) -> None:
    await store.missing.drop(ROOM, ["m1"])
    await store.messages.drop(ROOM, ["m2"])
    assert await store.missing.first(ROOM, 9) == ["m3"]
    await store.purge("slack", "T1")
    assert await store.missing.first(ROOM, 9) == []
