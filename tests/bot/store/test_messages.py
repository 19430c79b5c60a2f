"""Messages in the store: once each, by room, author and document, without their words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.store import Known, Store
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ROOM = "slack:T1:ROOF"
DOCUMENT = f"{ROOM}:window:m1"
FIRST = Known(ROOM, "m1", "", "ada", START, "digest", DOCUMENT, 10)
SECOND = replace(FIRST, id="m2", author="bob", time=START + timedelta(minutes=1))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


async def test_a_message_is_noted_once_and_counts_once(store: Store) -> None:
    await store.messages.note([FIRST])
    await store.messages.note([replace(FIRST, digest="other"), SECOND], opened=True)
    assert await store.messages.of_document(DOCUMENT) == [FIRST, SECOND]
    window = await store.windows.get(DOCUMENT)
    assert window
    assert (window.first, window.last, window.tokens) == (START, SECOND.time, 20)


async def test_messages_are_found_by_author_and_document(store: Store) -> None:
    other = replace(FIRST, room="slack:T12:ROOF", document="x")
    await store.messages.note([FIRST, SECOND])
    await store.messages.note([other])
    assert await store.messages.of_author("slack", "T1", "ada") == [FIRST]
    assert await store.messages.last_of(ROOM, "ada") == START
    assert await store.messages.last_of("slack:T1:HALL", "ada") is None


async def test_a_conversation_goes_with_its_last_message(store: Store) -> None:
    await store.messages.note([FIRST, SECOND])
    await store.messages.drop(ROOM, ["m1"])
    assert await store.windows.get(DOCUMENT)
    await store.messages.move(ROOM, "m2", f"{ROOM}:thread:m2")
    assert await store.windows.get(DOCUMENT) is None


async def test_a_forgotten_conversation_leaves_its_messages_as_passages_of_none(store: Store) -> None:
    await store.messages.note([FIRST])
    await store.windows.drop(DOCUMENT)
    assert await store.messages.get(ROOM, "m1") == replace(FIRST, document="", settled=True)


async def test_roots_are_known_by_their_replies(store: Store) -> None:
    await store.messages.note([replace(SECOND, thread="m1", document="t")], "m1")
    assert await store.messages.roots(ROOM, ["m1", "m2"]) == {"m1"}


async def test_a_deletion_is_remembered_with_its_time(store: Store) -> None:
    await store.messages.note_deleted(ROOM, ["m1", "m2"])
    assert await store.messages.deleted(ROOM, ["m1", "m3"]) == {"m1"}
    assert await store.messages.deleted(ROOM, ["m1"], START) == {"m1"}
    assert await store.messages.deleted(ROOM, ["m1"], START.replace(year=9000)) == frozenset()


async def test_what_people_wanted_forgotten_stays_so_even_if_the_platform_deletes_it_later(store: Store) -> None:
    await store.messages.note_deleted(ROOM, ["m1"], wanted=True)
    await store.messages.note_deleted(ROOM, ["m1", "m2"])
    await store.messages.forget_deletions(START.replace(year=9000))
    assert await store.messages.deleted(ROOM, ["m1", "m2"]) == {"m1"}


async def test_only_windows_that_reach_into_a_time_are_near(store: Store) -> None:
    await store.messages.note([FIRST, SECOND])
    await store.messages.note([replace(FIRST, id="m3", thread="m3", document="t")], "m3")
    near = await store.windows.near(ROOM, SECOND.time, SECOND.time)
    later = await store.windows.near(ROOM, SECOND.time + timedelta(seconds=1), SECOND.time + timedelta(1))
    assert ([each.document for each in near], later) == ([DOCUMENT], [])


async def test_conversations_are_quiet_once_and_open_again_when_somebody_speaks(store: Store) -> None:
    await store.messages.note([FIRST], opened=True)
    assert [each.document for each in await store.windows.quiet(START)] == [DOCUMENT]
    await store.windows.close(DOCUMENT)
    assert await store.windows.quiet(START) == []
    await store.messages.note([SECOND], opened=True)
    assert [each.document for each in await store.windows.quiet(SECOND.time)] == [DOCUMENT]
