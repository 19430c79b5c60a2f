"""Stored answers: found again, told as history, and blank once something that they drew on is forgotten."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.chat import Place
from bot.store import Drawn, Outcome, Store, Stored
from tests.fakes.platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.store.answers import Answers

THREAD = Place("slack", "T1", "ROOF", "m1")
ASKED = Stored("a1", THREAD, "ada", "When?", START, "m2", handle="h", mode="naive", files=("f1",))
SOURCE = Drawn(1, "#roof", "https://x", "Monday", "d1", "p1", "slack:T1:open", THREAD.room)
TOLD = Outcome("On Monday [1].", (SOURCE,), frozenset({"d1", "d2"}), frozenset({"slack:T1:open"}), frozenset({"r"}))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


async def test_an_answer_comes_back_as_it_was_told(store: Store) -> None:
    assert await store.answers.begin(ASKED)
    await store.answers.mark("a1", "mark")
    assert await store.answers.finish("a1", TOLD)
    assert await store.answers.get("a1") == replace(
        ASKED,
        text=TOLD.text,
        sources=TOLD.sources,
        documents=TOLD.documents,
        spaces=TOLD.spaces,
        rooms=TOLD.rooms,
        mark="mark",
        state="done",
    )


async def test_a_question_is_begun_once(store: Store) -> None:
    assert await store.answers.begin(ASKED)
    assert not await store.answers.begin(replace(ASKED, question="What?"))
    found = await store.answers.get("a1")
    assert found
    assert found.question == "When?"


async def test_what_is_not_finished_is_found_after_a_restart(store: Store) -> None:
    for number in range(3):
        await store.answers.begin(replace(ASKED, id=f"a{number}", time=START - timedelta(number)))
    await store.answers.finish("a0", TOLD)
    await store.answers.fail("a1")
    assert [each.id for each in await store.answers.unfinished()] == ["a2"]


async def test_the_turns_of_a_thread_are_what_all_its_readers_saw(store: Store) -> None:
    for number, facts in enumerate(
        ({}, {"private": True}, {"place": replace(THREAD, thread="m9")}, {"private": True, "asker": "bob"})
    ):
        await store.answers.begin(replace(ASKED, id=f"a{number}", **facts))  # type: ignore[arg-type]
        await store.answers.finish(f"a{number}", TOLD)
    await store.answers.begin(replace(ASKED, id="begun"))
    turns = await store.answers.turns(THREAD.room, "m1")
    private = await store.answers.private_turns(THREAD.room, "m1", "ada")
    assert ([each.id for each in turns], [each.id for each in private]) == (["a0"], ["a1"])


async def test_the_last_answer_is_the_last_that_one_may_see(store: Store) -> None:
    for number, (private, asker) in enumerate(((False, "ada"), (True, "ada"), (True, "bob"))):
        made = replace(ASKED, id=f"a{number}", private=private, asker=asker, time=START + timedelta(number))
        await store.answers.begin(made)
        await store.answers.finish(made.id, TOLD)
    found = [await store.answers.last_in(THREAD.room, "m1", asker) for asker in ("", "ada", "bob", "eve")]
    assert [each.id if each else "" for each in found] == ["a0", "a1", "a2", "a0"]


async def test_an_answer_is_found_by_its_question_and_by_its_reply(store: Store) -> None:
    await store.answers.begin(ASKED)
    await store.answers.mark("a1", "m3")
    for message in ("m2", "m3"):
        found = await store.answers.of_message(THREAD, message)
        assert found
        assert found.id == "a1"
    assert await store.answers.of_message(THREAD, "m4") is None


async def test_forgetting_blanks_the_answers_that_drew_on_it(store: Store) -> None:
    for number, documents in enumerate(({"d1"}, {"d2"}, {"d1", "d3"})):
        await store.answers.begin(replace(ASKED, id=f"a{number}"))
        await store.answers.finish(f"a{number}", replace(TOLD, documents=frozenset(documents)))
    blanked = await store.answers.blank(["d1"])
    assert sorted(each.id for each in blanked) == ["a0", "a2"]
    assert {(each.state, each.text, each.sources) for each in blanked} == {("blanked", "", ())}
    assert [each.id for each in await store.answers.turns(THREAD.room, "m1")] == ["a1"]


async def test_an_answer_that_was_being_written_when_something_was_forgotten_ends_blank(store: Store) -> None:
    await store.answers.begin(ASKED)
    await store.answers.blank(["d2"])
    assert not await store.answers.finish("a1", TOLD)
    found = await store.answers.get("a1")
    assert found
    assert (found.state, found.text) == ("blanked", "")


async def test_an_answer_that_was_dropped_meanwhile_stays_away(store: Store) -> None:
    await store.answers.begin(ASKED)
    await store.answers.drop("a1")
    assert not await store.answers.finish("a1", TOLD)
    assert await store.answers.get("a1") is None


@pytest.mark.parametrize(
    "drop",
    [
        lambda answers: answers.drop_of("slack", "T1", "ada"),
        lambda answers: answers.drop_questions(THREAD.room, ["m2"]),
        lambda answers: answers.drop_in(THREAD),
        lambda answers: answers.drop_in(THREAD.main),
        lambda answers: answers.drop_before(START.timestamp() + 1),
    ],
)
async def test_answers_go_with_their_asker_their_question_their_place_and_their_age(
    store: Store, drop: Callable[[Answers], Awaitable[None]]
) -> None:
    await store.answers.begin(ASKED)
    await store.answers.finish("a1", TOLD)
    await drop(store.answers)
    assert await store.answers.of_asker("slack", "T1", "ada") == []


async def test_thumbs_are_counted_once_a_person(store: Store) -> None:
    await store.answers.begin(ASKED)
    for person, up in (("ada", True), ("bob", True), ("bob", False)):
        assert await store.feedback.put("a1", person, up)
    assert await store.feedback.count("a1") == (1, 1)
    assert not await store.feedback.put("a9", "ada", True)
