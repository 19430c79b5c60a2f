"""Messages and files in the store: once each, by room, author and document, without their texts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.store import BotStore, FileRecord, MessageRecord
from tests.support.builders import ROOF
from tests.support.fake_platform import START

ROOM = ROOF.room
DOCUMENT = f"{ROOM}:window:m1"
FIRST = MessageRecord(ROOM, "m1", "", "ada", START, "digest", DOCUMENT, 10)
SECOND = replace(FIRST, id="m2", author="bob", time=START + timedelta(minutes=1))
FILE = FileRecord(f"{ROOM}:file:m1:F1", ROOM, "m1", "F1", "ada", START)
FAR = START.replace(year=9000)


async def test_a_message_is_inserted_once_and_counts_once(store: BotStore) -> None:
    await store.messages.insert([FIRST])
    await store.messages.insert([replace(FIRST, digest="other"), SECOND], opened=True)
    assert await store.messages.list_by_document(DOCUMENT) == [FIRST, SECOND]
    window = await store.conversations.get(DOCUMENT)
    assert window
    assert (window.first, window.last, window.tokens) == (START, SECOND.time, 20)


async def test_messages_are_found_by_author(store: BotStore) -> None:
    for records in ([FIRST, SECOND], [replace(FIRST, room="slack:T12:ROOF", document="x")]):
        await store.messages.insert(records)
    assert await store.messages.list_by_author("slack", "T1", "ada") == [FIRST]
    assert await store.messages.get_last_time(ROOM, "ada") == START
    assert await store.messages.get_last_time("slack:T1:HALL", "ada") is None


async def test_a_conversation_goes_with_its_last_message_and_leaves_its_messages(store: BotStore) -> None:
    await store.messages.insert([FIRST, SECOND])
    await store.messages.delete(ROOM, ["m1"])
    assert await store.conversations.get(DOCUMENT)
    await store.messages.move_to_document(ROOM, "m2", f"{ROOM}:thread:m2")
    assert await store.conversations.get(DOCUMENT) is None
    await store.messages.insert([FIRST])
    await store.conversations.delete(DOCUMENT)
    assert await store.messages.get(ROOM, "m1") == replace(FIRST, document="", is_applied=True)


async def test_roots_are_known_by_their_replies(store: BotStore) -> None:
    await store.messages.insert([replace(SECOND, thread="m1", document="t")], "m1")
    assert await store.messages.list_thread_roots(ROOM, ["m1", "m2"]) == {"m1"}


async def test_deletions_are_remembered_and_those_that_people_wanted_for_ever(store: BotStore) -> None:
    await store.messages.add_tombstones(ROOM, ["m1"], requested=True)
    await store.messages.add_tombstones(ROOM, ["m1", "m2"])
    find = store.messages.find_tombstones
    assert await find(ROOM, ["m1", "m2", "m3"]) == await find(ROOM, ["m1", "m2"], START) == {"m1", "m2"}
    assert await find(ROOM, ["m2"], FAR) == frozenset()
    await store.messages.delete_tombstones(FAR)
    assert await find(ROOM, ["m1", "m2"]) == {"m1"}


async def test_only_windows_that_reach_into_a_time_overlap(store: BotStore) -> None:
    await store.messages.insert([FIRST, SECOND])
    await store.messages.insert([replace(FIRST, id="m3", thread="m3", document="t")], "m3")
    for late, expected in ((0, [DOCUMENT]), (1, [])):
        time = SECOND.time + timedelta(seconds=late)
        found = await store.conversations.list_overlapping(ROOM, time, time + timedelta(late))
        assert [record.document for record in found] == expected


async def test_conversations_are_idle_once_and_open_again_with_a_new_message(store: BotStore) -> None:
    async def idle() -> list[str]:
        return [record.document for record in await store.conversations.list_idle_since(SECOND.time)]

    await store.messages.insert([FIRST], opened=True)
    assert await idle() == [DOCUMENT]
    await store.conversations.close(DOCUMENT)
    assert await idle() == []
    await store.messages.insert([SECOND], opened=True)
    assert await idle() == [DOCUMENT]


async def test_unconfirmed_deletions_are_checked_in_turns_the_newest_first(store: BotStore) -> None:
    missing, ids = store.unconfirmed_deletions, ["m1", "m2", "m3"]
    await store.messages.insert([FIRST, SECOND, replace(SECOND, id="m3", time=SECOND.time + timedelta(minutes=1))])
    await missing.add(ROOM, [*ids, "unknown"])
    assert await missing.list_next(ROOM, 9) == ["m3", "m2", "m1"]
    await missing.record_checks(ROOM, ["m3"])
    await missing.add(ROOM, ids)
    assert await missing.list_next(ROOM, 2) == ["m2", "m1"]
    assert await missing.has_unchecked(ROOM)
    await missing.record_checks(ROOM, ["m2", "m1"])
    assert await missing.list_next(ROOM, 9) == ["m3", "m2", "m1"]
    assert not await missing.has_unchecked(ROOM)
    await missing.delete(ROOM, ["m1"])
    await store.messages.delete(ROOM, ["m2"])
    assert await missing.list_next(ROOM, 9) == ["m3"]
    await store.delete_workspace("slack", "T1")
    assert await missing.list_next(ROOM, 9) == []


async def test_only_files_of_known_messages_that_are_not_indexed_are_pending(store: BotStore) -> None:
    await store.messages.insert([replace(FIRST, document="")])
    second = replace(FILE, document=f"{ROOM}:file:m1:F2", upload_id="F2")
    fact = replace(FILE, document="stated", message_id="", upload_id="")
    for each in (FILE, second, fact, replace(FILE, document="commanded", message_id="c1")):
        await store.files.insert(each)
    assert await store.files.list_pending(ROOM, 9) == [FILE, second]
    assert await store.files.list_pending(ROOM, 1) == [FILE]
    await store.files.record_applied(FILE)
    assert await store.files.list_pending(ROOM, 9) == [second]
    assert await store.files.list_pending("slack:T1:HALL", 9) == []
