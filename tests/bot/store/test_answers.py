"""Stored answers: found again, told as history, and blank once something that they drew on is forgotten."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.platform.models import Location
from bot.store import AnswerResult, AnswerSource, BotStore, StoredAnswer
from bot.store.channels import FAR_FUTURE
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import datetime
    from pathlib import Path

    from bot.store.answers import Answers

THREAD = Location("slack", "T1", "ROOF", "m1")
ASKED = StoredAnswer("a1", THREAD, "ada", "When?", START, "m2")
SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", "d1", "p1", "slack:T1:open", THREAD.room)
TOLD = AnswerResult(
    "On Monday [1].", (SOURCE,), frozenset({"d1", "d2"}), frozenset({"slack:T1:open"}), frozenset({"r"})
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


async def test_an_answer_comes_back_as_it_was_told(store: BotStore) -> None:
    assert await store.answers.begin(ASKED)
    await store.answers.save_reply_ref("a1", "mark")
    assert await store.answers.finish("a1", TOLD)
    assert await store.answers.get("a1") == replace(
        ASKED,
        text=TOLD.text,
        sources=TOLD.sources,
        documents=TOLD.documents,
        spaces=TOLD.spaces,
        rooms=TOLD.rooms,
        shown_keys=TOLD.documents,
        reply_ref="mark",
        state="done",
    )


async def test_a_question_is_begun_once(store: BotStore) -> None:
    assert await store.answers.begin(ASKED)
    assert not await store.answers.begin(replace(ASKED, question="What?"))
    found = await store.answers.get("a1")
    assert found
    assert found.question == "When?"


async def test_the_turns_of_a_thread_are_what_all_its_readers_saw_and_what_one_alone_did(store: BotStore) -> None:
    for number, facts in enumerate(
        ({}, {"private": True}, {"location": replace(THREAD, thread="m9")}, {"private": True, "asker": "bob"}, {})
    ):
        made = replace(ASKED, id=f"a{number}", time=START + timedelta(number), **facts)  # type: ignore[arg-type]
        await store.answers.begin(made)
        await store.answers.finish(made.id, TOLD)
    await store.answers.begin(replace(ASKED, id="begun"))
    assert await turns(store, 10) == ["a4", "a0"]
    assert await turns(store, 10, asker="ada") == ["a4", "a1", "a0"]
    assert await turns(store, 2, asker="ada") == ["a4", "a1"]
    assert await turns(store, 2, skip=2, asker="ada") == ["a0"]
    assert await turns(store, 10, before=START + timedelta(4)) == ["a0"]


async def turns(store: BotStore, limit: int, before: datetime = FAR_FUTURE, **more: Any) -> list[str]:
    return [each.id for each in await store.answers.list_in_thread(THREAD, before, limit, **more)]


async def test_the_last_answer_is_the_last_that_one_may_see(store: BotStore) -> None:
    for number, (private, asker) in enumerate(((False, "ada"), (True, "ada"), (True, "bob"))):
        made = replace(ASKED, id=f"a{number}", private=private, asker=asker, time=START + timedelta(number))
        await store.answers.begin(made)
        await store.answers.finish(made.id, TOLD)
    for thread in ("m1", ""):
        found = [await store.answers.get_latest(THREAD.room, thread, asker) for asker in ("", "ada", "bob", "eve")]
        assert [each.id if each else "" for each in found] == ["a0", "a1", "a2", "a0"]
    assert await store.answers.get_latest(THREAD.room, "m9") is None


async def test_an_answer_is_found_by_its_question_and_by_each_message_that_it_stands_in(store: BotStore) -> None:
    await store.answers.begin(ASKED)
    await store.answers.save_reply_ref("a1", "m1:m3")
    await store.answers.save_reply_ref("a1", "m1:m4,m5")
    found = [await store.answers.get_by_message(THREAD, f"m{number}") for number in range(1, 7)]
    assert [each.id if each else "" for each in found] == ["", "a1", "", "a1", "a1", ""]
    assert await store.answers.get_by_message(replace(THREAD, channel="HALL"), "m4") is None
    await store.answers.delete("a1")
    assert await store.answers.get_by_message(THREAD, "m4") is None


async def test_a_mark_of_an_answer_that_is_gone_brings_nothing_back(store: BotStore) -> None:
    await store.answers.save_reply_ref("a1", "m1:m3")
    assert await store.answers.get_by_message(THREAD, "m3") is None


async def test_forgetting_blanks_the_answers_that_drew_on_it(store: BotStore) -> None:
    for number, documents in enumerate(({"d1"}, {"d2"}, {"d1", "d3"})):
        await store.answers.begin(replace(ASKED, id=f"a{number}"))
        await store.answers.finish(f"a{number}", replace(TOLD, documents=frozenset(documents)))
    await store.answers.redact(["d1"])
    blanked = [await store.answers.get(each) for each in ("a0", "a2")]
    assert [(each.state, each.text, each.sources) for each in blanked if each] == 2 * [("redacted", "", ())]
    assert await turns(store, 10) == ["a1"]


async def test_an_answer_that_was_being_written_when_something_was_forgotten_ends_blank(store: BotStore) -> None:
    await store.answers.begin(ASKED)
    await store.answers.redact(["d2"])
    assert not await store.answers.finish("a1", TOLD)
    found = await store.answers.get("a1")
    assert found
    assert (found.state, found.text) == ("redacted", "")


async def test_an_answer_that_was_dropped_meanwhile_stays_away(store: BotStore) -> None:
    await store.answers.begin(ASKED)
    await store.answers.delete("a1")
    assert not await store.answers.finish("a1", TOLD)
    assert await store.answers.get("a1") is None


@pytest.mark.parametrize(
    "drop",
    [
        lambda answers: answers.delete_by_asker("slack", "T1", "ada"),
        lambda answers: answers.delete_by_messages(THREAD.room, ["m2"]),
        lambda answers: answers.delete_in_channel(THREAD),
        lambda answers: answers.delete_in_channel(THREAD.without_thread),
        lambda answers: answers.delete_before(START.timestamp() + 1),
    ],
)
async def test_answers_go_with_their_asker_their_question_their_place_and_their_age(
    store: BotStore, drop: Callable[[Answers], Awaitable[None]]
) -> None:
    await store.answers.begin(ASKED)
    await store.answers.finish("a1", TOLD)
    await drop(store.answers)
    assert await store.answers.get("a1") is None


async def test_thumbs_are_counted_once_a_person_and_the_last_one_counts(store: BotStore) -> None:
    await store.answers.begin(ASKED)
    thumbs = (("ada", True), ("bob", True), ("bob", True), ("bob", False))
    assert [await store.feedback.record("a1", *thumb) for thumb in thumbs] == [True, True, False, True]
    assert await store.feedback.count("slack", "T1", START) == (1, 1)
    assert await store.feedback.count("slack", "T2", START) == (0, 0)
    assert await store.feedback.count("slack", "T1", START + timedelta(1)) == (0, 0)
    assert not await store.feedback.record("a9", "ada", True)


async def test_what_was_not_liked_is_listed_the_latest_first(store: BotStore) -> None:
    facts: list[dict[str, Any]] = [{}, {}, {"private": True}, {"location": Location("slack", "T2", "HALL")}, {}]
    for number, each in enumerate(facts):
        await store.answers.begin(replace(ASKED, id=f"a{number}", time=START + timedelta(number), **each))
        await store.answers.finish(f"a{number}", TOLD)
        await store.feedback.record(f"a{number}", "bob", number == 4)
        await store.feedback.record(f"a{number}", "eve", True)
    disliked = store.answers.list_disliked
    assert [each.id for each in await disliked("slack", "T1", START, 10)] == ["a1", "a0"]
    assert [each.id for each in await disliked("slack", "T1", START, 1)] == ["a1"]
    assert [each.id for each in await disliked("slack", "T1", START + timedelta(1), 10)] == ["a1"]


async def test_thumbs_go_with_the_person(store: BotStore) -> None:
    await store.answers.begin(ASKED)
    for person in ("bob", "eve"):
        await store.feedback.record("a1", person, up=True)
    await store.answers.delete_by_asker("slack", "T1", "bob")
    assert await store.feedback.count("slack", "T1", START) == (1, 0)
    await store.answers.delete_by_asker("slack", "T1", "ada")
    assert await store.feedback.count("slack", "T1", START) == (0, 0)
