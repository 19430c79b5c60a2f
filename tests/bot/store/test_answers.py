"""Stored answers: found again, listed as history, and redacted once something that they drew on is forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.platform.models import Location
from bot.store import AnswerResult, AnswerSource, BotStore
from bot.store.answers import Answers
from bot.store.channels import FAR_FUTURE
from tests.support.builders import ROOF, make_answer
from tests.support.fake_platform import START

THREAD = replace(ROOF, thread="m1")
SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", "d1", "p1", "slack:T1:open", ROOF.room)
RESULT = AnswerResult(
    "On Monday [1].", (SOURCE,), frozenset({"d1", "d2"}), frozenset({"slack:T1:open"}), frozenset({"r"})
)


async def add(
    store: BotStore, id_: str = "a1", days: int = 0, result: AnswerResult | None = RESULT, **facts: Any
) -> None:
    """An answer of that day in the thread, finished if there is a result."""
    facts = {"location": THREAD, "message_id": "m2", "time": START + timedelta(days), **facts}
    await store.answers.begin(make_answer(id_, **facts))
    if result:
        await store.answers.finish(id_, result)


async def thread_ids(store: BotStore, limit: int = 10, **facts: Any) -> list[str]:
    before = facts.pop("before", FAR_FUTURE)
    return [answer.id for answer in await store.answers.list_in_thread(THREAD, before, limit, **facts)]


async def test_an_answer_is_begun_once_and_comes_back_as_it_was_finished(store: BotStore) -> None:
    begun = make_answer(location=THREAD, message_id="m2")
    assert await store.answers.begin(begun)
    assert not await store.answers.begin(replace(begun, question="What?"))
    await store.answers.save_reply_ref("a1", "mark")
    assert await store.answers.finish("a1", RESULT)
    facts = {name: getattr(RESULT, name) for name in ("text", "sources", "documents", "spaces", "rooms")}
    expected = replace(begun, **facts, shown_keys=RESULT.documents, reply_ref="mark", state="done")
    assert await store.answers.get("a1") == expected


async def test_the_history_of_a_thread_is_what_all_saw_and_what_one_person_alone_did(store: BotStore) -> None:
    elsewhere = {"location": replace(THREAD, thread="m9")}
    answers: list[dict[str, Any]] = [{}, {"private": True}, elsewhere, {"private": True, "asker": "bob"}, {}]
    for number, facts in enumerate(answers):
        await add(store, f"a{number}", number, **facts)
    await add(store, "begun", result=None)
    assert await thread_ids(store) == ["a4", "a0"]
    assert await thread_ids(store, asker="ada") == ["a4", "a1", "a0"]
    assert await thread_ids(store, 2, asker="ada") == ["a4", "a1"]
    assert await thread_ids(store, 2, skip=2, asker="ada") == ["a0"]
    assert await thread_ids(store, before=START + timedelta(4)) == ["a0"]


async def test_the_latest_answer_is_the_latest_that_a_person_may_see(store: BotStore) -> None:
    for number, (private, asker) in enumerate(((False, "ada"), (True, "ada"), (True, "bob"))):
        await add(store, f"a{number}", number, private=private, asker=asker)
    for thread in ("m1", ""):
        found = [await store.answers.get_latest(ROOF.room, thread, asker) for asker in ("", "ada", "bob", "eve")]
        assert [each.id if each else "" for each in found] == ["a0", "a1", "a2", "a0"]
    assert await store.answers.get_latest(ROOF.room, "m9") is None


async def test_an_answer_is_found_by_its_question_and_by_each_message_of_its_reply(store: BotStore) -> None:
    await store.answers.save_reply_ref("a1", "m1:m3")  # of an answer that is not there yet
    assert await store.answers.get_by_message(THREAD, "m3") is None
    await add(store, result=None)
    for ref in ("m1:m3", "m1:m4,m5"):
        await store.answers.save_reply_ref("a1", ref)
    found = [await store.answers.get_by_message(THREAD, f"m{number}") for number in range(1, 7)]
    assert [each.id if each else "" for each in found] == ["", "a1", "", "a1", "a1", ""]
    assert await store.answers.get_by_message(replace(THREAD, channel="HALL"), "m4") is None
    await store.answers.delete("a1")
    assert await store.answers.get_by_message(THREAD, "m4") is None


async def test_forgetting_redacts_the_answers_that_drew_on_it(store: BotStore) -> None:
    for number, documents in enumerate(({"d1"}, {"d2"}, {"d1", "d3"})):
        await add(store, f"a{number}", result=replace(RESULT, documents=frozenset(documents)))
    await store.answers.redact(["d1"])
    redacted = [await store.answers.get(text) for text in ("a0", "a2")]
    assert [(each.state, each.text, each.sources) for each in redacted if each] == 2 * [("redacted", "", ())]
    assert await thread_ids(store) == ["a1"]


@pytest.mark.parametrize("deleted", [False, True])
async def test_what_is_forgotten_or_deleted_while_it_is_written_stays_so(store: BotStore, *, deleted: bool) -> None:
    await add(store, result=None)
    await (store.answers.delete("a1") if deleted else store.answers.redact(["d2"]))
    assert not await store.answers.finish("a1", RESULT)
    found = await store.answers.get("a1")
    assert (found and (found.state, found.text)) == (None if deleted else ("redacted", ""))


@pytest.mark.parametrize(
    "drop",
    [
        lambda answers: answers.delete_by_asker("slack", "T1", "ada"),
        lambda answers: answers.delete_by_messages(ROOF.room, ["m2"]),
        lambda answers: answers.delete_in_channel(THREAD),
        lambda answers: answers.delete_in_channel(ROOF),
        lambda answers: answers.delete_before(START.timestamp() + 1),
    ],
    ids=["asker", "question", "thread", "channel", "age"],
)
async def test_answers_go_with_their_asker_question_place_and_age(
    store: BotStore, drop: Callable[[Answers], Awaitable[None]]
) -> None:
    await add(store)
    await drop(store.answers)
    assert await store.answers.get("a1") is None


async def test_thumbs_are_counted_once_a_person_and_go_with_them(store: BotStore) -> None:
    await add(store, result=None)
    thumbs = (("ada", True), ("bob", True), ("bob", True), ("bob", False))
    assert [await store.feedback.record("a1", *thumb) for thumb in thumbs] == [True, True, False, True]
    assert not await store.feedback.record("a9", "ada", True)
    count = store.feedback.count
    assert await count("slack", "T1", START) == (1, 1)
    assert await count("slack", "T2", START) == await count("slack", "T1", START + timedelta(1)) == (0, 0)
    feedback = store.feedback
    assert not await feedback.record_reason("a1", "bob", "wrong", "it is not finished")
    await store.answers.finish("a1", AnswerResult("Monday."))
    assert await feedback.record_reason("a1", "bob", "outdated", "now Friday")
    assert not await feedback.record("a1", "bob", False)
    assert await feedback.list_reasons({"a1", "a2"}) == [("outdated", "now Friday")]
    await feedback.record("a1", "ada", False)
    await feedback.record_reason("a1", "ada", "", "Friday!")
    await feedback.record("a1", "ada", True)
    assert await feedback.list_reasons({"a1"}) == [("outdated", "now Friday")], "another vote has no reason"
    await store.answers.redact_one("a1")
    assert await feedback.list_reasons({"a1"}) == [("outdated", "")], "a comment may quote what was removed"
    for person, left in (("bob", (1, 0)), ("ada", (0, 0))):
        await store.answers.delete_by_asker("slack", "T1", person)
        assert await count("slack", "T1", START) == left


async def test_disliked_answers_are_listed_the_latest_first(store: BotStore) -> None:
    elsewhere = {"location": Location("slack", "T2", "HALL")}
    answers: list[dict[str, Any]] = [{}, {}, {"private": True}, elsewhere, {}]
    for number, facts in enumerate(answers):
        await add(store, f"a{number}", number, **facts)
        await store.feedback.record(f"a{number}", "bob", number == 4)
        await store.feedback.record(f"a{number}", "eve", True)
    for since, limit, expected in ((0, 10, ["a1", "a0"]), (0, 1, ["a1"]), (1, 10, ["a1"])):
        listed = await store.answers.list_disliked("slack", "T1", START + timedelta(since), limit)
        assert [answer.id for answer in listed] == expected
