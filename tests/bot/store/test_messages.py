"""Messages in the store: once each, by room, author and document, without their words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.store import BotStore, MessageRecord
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ROOM = "slack:T1:ROOF"
DOCUMENT = f"{ROOM}:window:m1"
FIRST = MessageRecord(ROOM, "m1", "", "ada", START, "digest", DOCUMENT, 10)
SECOND = replace(FIRST, id="m2", author="bob", time=START + timedelta(minutes=1))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


async def test_a_message_is_noted_once_and_counts_once(store: BotStore) -> None:
    await store.messages.insert([FIRST])
    await store.messages.insert([replace(FIRST, digest="other"), SECOND], opened=True)
    assert await store.messages.list_by_document(DOCUMENT) == [FIRST, SECOND]
    window = await store.conversations.get(DOCUMENT)
    assert window
    assert (window.first, window.last, window.tokens) == (START, SECOND.time, 20)


async def test_messages_are_found_by_author_and_document(store: BotStore) -> None:
    other = replace(FIRST, room="slack:T12:ROOF", document="x")
    await store.messages.insert([FIRST, SECOND])
    await store.messages.insert([other])
    assert await store.messages.list_by_author("slack", "T1", "ada") == [FIRST]
    assert await store.messages.get_last_time(ROOM, "ada") == START
    assert await store.messages.get_last_time("slack:T1:HALL", "ada") is None


async def test_a_conversation_goes_with_its_last_message(store: BotStore) -> None:
    await store.messages.insert([FIRST, SECOND])
    await store.messages.delete(ROOM, ["m1"])
    assert await store.conversations.get(DOCUMENT)
    await store.messages.move_to_document(ROOM, "m2", f"{ROOM}:thread:m2")
    assert await store.conversations.get(DOCUMENT) is None


async def test_a_forgotten_conversation_leaves_its_messages_as_passages_of_none(store: BotStore) -> None:
    await store.messages.insert([FIRST])
    await store.conversations.delete(DOCUMENT)
    assert await store.messages.get(ROOM, "m1") == replace(FIRST, document="", is_applied=True)


async def test_roots_are_known_by_their_replies(store: BotStore) -> None:
    await store.messages.insert([replace(SECOND, thread="m1", document="t")], "m1")
    assert await store.messages.list_thread_roots(ROOM, ["m1", "m2"]) == {"m1"}


async def test_a_deletion_is_remembered_with_its_time(store: BotStore) -> None:
    await store.messages.add_tombstones(ROOM, ["m1", "m2"])
    assert await store.messages.find_tombstones(ROOM, ["m1", "m3"]) == {"m1"}
    assert await store.messages.find_tombstones(ROOM, ["m1"], START) == {"m1"}
    assert await store.messages.find_tombstones(ROOM, ["m1"], START.replace(year=9000)) == frozenset()


async def test_what_people_wanted_forgotten_stays_so_even_if_the_platform_deletes_it_later(store: BotStore) -> None:
    await store.messages.add_tombstones(ROOM, ["m1"], wanted=True)
    await store.messages.add_tombstones(ROOM, ["m1", "m2"])
    await store.messages.delete_tombstones(START.replace(year=9000))
    assert await store.messages.find_tombstones(ROOM, ["m1", "m2"]) == {"m1"}


async def test_only_windows_that_reach_into_a_time_are_near(store: BotStore) -> None:
    await store.messages.insert([FIRST, SECOND])
    await store.messages.insert([replace(FIRST, id="m3", thread="m3", document="t")], "m3")
    near = await store.conversations.list_overlapping(ROOM, SECOND.time, SECOND.time)
    later = await store.conversations.list_overlapping(
        ROOM, SECOND.time + timedelta(seconds=1), SECOND.time + timedelta(1)
    )
    assert ([each.document for each in near], later) == ([DOCUMENT], [])


async def test_conversations_are_quiet_once_and_open_again_when_somebody_speaks(store: BotStore) -> None:
    await store.messages.insert([FIRST], opened=True)
    assert [each.document for each in await store.conversations.list_idle_since(START)] == [DOCUMENT]
    await store.conversations.close(DOCUMENT)
    assert await store.conversations.list_idle_since(START) == []
    await store.messages.insert([SECOND], opened=True)
    assert [each.document for each in await store.conversations.list_idle_since(SECOND.time)] == [DOCUMENT]
