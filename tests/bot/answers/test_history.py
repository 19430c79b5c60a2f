"""What was said in a thread before: the bot's own answers, and what others said, in the order of time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.answers.history import MAX_ANSWERS, ThreadHistory, merge_turns
from bot.answers.request import AnswerRequest, request_from_message
from bot.errors import PlatformError
from bot.platform.events import MessagesDeleted
from bot.platform.models import Location
from bot.store import AnswerResult, StoredAnswer
from engine.models import ChatTurn, Scope
from tests.support.answering_fixture import AnsweringFixture, open_answering_bot
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
THREAD = Location("slack", "T1", "HALL", "m1")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        await opened.join_channel("HALL", "ada", "bob")
        yield opened


@pytest.fixture
def historian(home: AnsweringFixture) -> ThreadHistory:
    return ThreadHistory(home.context)


async def answered(home: AnsweringFixture, id_: str, minutes: int, outcome: AnswerResult, **more: object) -> None:
    """The bot has answered in the thread."""
    begun = StoredAnswer(id_, THREAD, "ada", f"<@BOT> {id_}?", START + timedelta(minutes=minutes), message_id=id_)
    await home.context.store.answers.begin(replace(begun, **more))  # type: ignore[arg-type]
    await home.context.store.answers.finish(id_, outcome)


def asked(minutes: int = 60, **more: object) -> AnswerRequest:
    request = AnswerRequest("now", THREAD, "bob", "And?", START + timedelta(minutes=minutes), message="now")
    return replace(request, **more)  # type: ignore[arg-type]


async def test_answers_and_what_others_said_come_in_order(home: AnsweringFixture, historian: ThreadHistory) -> None:
    home.platform.add_message(THREAD, "ada", "First, <@bob>.", after=60)
    await answered(home, "q1", 2, AnswerResult("It is so. [1] [2]", spaces=frozenset(OPEN.spaces)))
    home.platform.add_message(THREAD, "bob", "I see.", after=240)
    past = await historian.load_history(asked(), OPEN)
    assert past.turns == (
        ChatTurn("user", "Ada: First, @Bob."),
        ChatTurn("user", "q1?"),
        ChatTurn("assistant", "It is so."),
        ChatTurn("user", "Bob: I see."),
    )


async def test_a_question_is_not_told_twice(home: AnsweringFixture, historian: ThreadHistory) -> None:
    message = home.platform.add_message(THREAD, "ada", "<@BOT> Who?")
    await answered(home, message.id, 1, AnswerResult("He."))
    assert [turn.text for turn in (await historian.load_history(asked(), OPEN)).turns] == [f"{message.id}?", "He."]


async def test_bots_are_left_out_and_what_came_later(home: AnsweringFixture, historian: ThreadHistory) -> None:
    home.platform.add_message(THREAD, "robo", "Beep.", by_bot=True)
    home.platform.add_message(THREAD, "ada", "Later.", after=3600 * 2)
    assert (await historian.load_history(asked(), OPEN)).turns == ()


async def test_an_answer_from_elsewhere_out_of_scope_is_left_out(
    home: AnsweringFixture, historian: ThreadHistory
) -> None:
    await answered(home, "q1", 2, AnswerResult("The key is here.", spaces=frozenset({"slack:T1:VAULT"})))
    await answered(home, "q2", 3, AnswerResult("Tea.", spaces=frozenset({"slack:T1:open"})))
    past = await historian.load_history(asked(), OPEN)
    assert [turn.text for turn in past.turns] == ["q2?", "Tea."]


async def test_one_that_drew_on_rooms_counts_where_these_lie_in_scope(
    home: AnsweringFixture, historian: ThreadHistory
) -> None:
    await answered(home, "q1", 2, AnswerResult("Tea.", rooms=frozenset({"slack:T1:HALL"})))
    assert len((await historian.load_history(asked(), OPEN)).turns) == 2
    assert len((await historian.load_history(asked(), Scope(frozenset(), frozenset({"slack:T1:HALL"})))).turns) == 2
    assert (await historian.load_history(asked(), Scope(frozenset({"slack:T1:VAULT"}), frozenset()))).turns == ()


async def test_what_it_drew_on_and_its_documents_are_told(home: AnsweringFixture, historian: ThreadHistory) -> None:
    outcome = AnswerResult("Tea.", spaces=frozenset({"slack:T1:open"}), documents=frozenset({"d1"}))
    await answered(home, "q1", 2, outcome)
    home.platform.add_message(THREAD, "ada", "So.")
    past = await historian.load_history(asked(), OPEN)
    assert past.source_scope == Scope(frozenset({"slack:T1:open"}), frozenset({"slack:T1:HALL"}))
    assert "d1" in past.shown_keys


async def test_a_private_answer_is_for_its_asker_in_private(home: AnsweringFixture, historian: ThreadHistory) -> None:
    await answered(home, "q1", 2, AnswerResult("Psst."), private=True, asker="bob")
    assert (await historian.load_history(asked(), OPEN)).turns == ()
    assert (await historian.load_history(asked(private=True, person="ada"), OPEN)).turns == ()
    assert len((await historian.load_history(asked(private=True), OPEN)).turns) == 2


async def test_what_the_reader_may_not_read_there_is_left_out(home: AnsweringFixture, historian: ThreadHistory) -> None:
    home.platform.add_message(THREAD, "ada", "Psst.")
    home.platform.change_channel("HALL", kind="closed")
    home.context.audience.invalidate(THREAD)
    assert (await historian.load_history(asked(private=True), OPEN)).turns == ()
    own = Scope(frozenset({"slack:T1:HALL"}), frozenset())
    assert len((await historian.load_history(asked(private=True), own)).turns) == 1


async def test_what_was_to_be_forgotten_is_not_told_from_the_platform(
    home: AnsweringFixture, historian: ThreadHistory
) -> None:
    first = home.platform.add_message(THREAD, "ada", "Forget this one.")
    home.platform.add_message(THREAD, "bob", "I am not to be read.")
    home.platform.add_message(THREAD, "ada", "Tea?")
    await home.context.store.messages.add_tombstones(THREAD.room, [first.id])
    await home.context.store.opt_outs.opt_out("slack", "T1", "bob")
    past = await historian.load_history(asked(), OPEN)
    assert [turn.text for turn in past.turns] == ["Ada: Tea?"]
    await home.context.store.opt_outs.opt_in("slack", "T1", "bob", home.platform.current_time())
    assert (await historian.load_history(asked(), OPEN)).turns == past.turns


async def test_a_thread_that_only_begins_asks_the_platform_nothing(
    home: AnsweringFixture, historian: ThreadHistory
) -> None:
    message = home.platform.add_message(Location("slack", "T1", "HALL"), "ada", "<@BOT> Who?")
    home.platform.calls.clear()
    assert (await historian.load_history(request_from_message(message), OPEN)).turns == ()
    assert home.platform.calls == []


async def test_what_a_question_replies_to_is_told(home: AnsweringFixture, historian: ThreadHistory) -> None:
    place = Location("slack", "T1", "HALL")
    said = home.platform.add_message(place, "ada", "The roof leaks.")
    home.platform.add_message(place, "ada", "The door squeaks.")
    message = home.platform.add_message(place, "bob", "<@BOT> Since when?", replies_to=said.id)
    past = await historian.load_history(request_from_message(message), OPEN)
    assert [turn.text for turn in past.turns] == ["Ada: The roof leaks."]


async def test_the_answer_that_a_question_replies_to_is_told(home: AnsweringFixture, historian: ThreadHistory) -> None:
    place = Location("slack", "T1", "HALL")
    await answered(home, "q1", 0, AnswerResult("Tea.", spaces=OPEN.spaces), location=place)
    await home.context.store.answers.save_reply_ref("q1", "HALL:b7,b8")
    message = home.platform.add_message(place, "bob", "<@BOT> Which one?", replies_to="b8")
    assert [turn.text for turn in (await historian.load_history(request_from_message(message), OPEN)).turns] == [
        "q1?",
        "Tea.",
    ]


@pytest.mark.parametrize("gone", ["the message", "all of its author"])
async def test_an_answer_that_was_told_a_message_is_blank_once_that_is_gone(
    home: AnsweringFixture, historian: ThreadHistory, gone: str
) -> None:
    said = home.platform.add_message(THREAD, "ada", "The code is 1234.")
    past = await historian.load_history(asked(), OPEN)
    await answered(home, "q1", 70, AnswerResult("It is 1234.", documents=past.shown_keys), asker="bob")
    if gone == "the message":
        await home.ingest_service.handle(MessagesDeleted(THREAD, (said.id,)))
    else:
        await home.ingest_service.forget_person("slack", "T1", "ada")
    found = await home.context.store.answers.get("q1")
    assert found
    assert (found.state, found.text) == ("redacted", "")


async def test_what_an_answer_was_told_of_one_message_outlives_another_one(
    home: AnsweringFixture, historian: ThreadHistory
) -> None:
    home.platform.add_message(THREAD, "ada", "The code is 1234.")
    past = await historian.load_history(asked(), OPEN)
    await answered(home, "q1", 70, AnswerResult("It is 1234.", documents=past.shown_keys))
    await home.ingest_service.handle(MessagesDeleted(THREAD, ("another",)))
    found = await home.context.store.answers.get("q1")
    assert found
    assert found.state == "done"


async def test_a_platform_that_fails_costs_no_answer(home: AnsweringFixture, historian: ThreadHistory) -> None:
    await answered(home, "q1", 2, AnswerResult("Tea."))
    home.platform.failing["thread"] = PlatformError("Down.")
    assert len((await historian.load_history(asked(), OPEN)).turns) == 2


async def test_a_command_outside_of_threads_has_no_past(home: AnsweringFixture, historian: ThreadHistory) -> None:
    await answered(home, "q1", 2, AnswerResult("Tea."), location=replace(THREAD, thread=""))
    assert (await historian.load_history(asked(location=replace(THREAD, thread="")), OPEN)).turns == ()


async def test_a_talk_without_threads_has_one(home: AnsweringFixture, historian: ThreadHistory) -> None:
    talk = Location("discord", "", "D1")
    await answered(home, "q1", 2, AnswerResult("Tea."), location=talk)
    assert len((await historian.load_history(asked(location=talk), OPEN)).turns) == 2


async def test_only_the_newest_answers_are_told(home: AnsweringFixture, historian: ThreadHistory) -> None:
    for number in range(MAX_ANSWERS + 5):
        await answered(home, f"q{number}", number, AnswerResult("Tea."))
    past = await historian.load_history(asked(), OPEN)
    assert len(past.turns) == 2 * MAX_ANSWERS
    assert past.turns[-2].text == f"q{MAX_ANSWERS + 4}?"


async def test_those_out_of_scope_take_nobody_s_place(home: AnsweringFixture, historian: ThreadHistory) -> None:
    open_, secret = (AnswerResult("Tea.", spaces=frozenset({f"slack:T1:{name}"})) for name in ("open", "VAULT"))
    for number in range(4 * MAX_ANSWERS):
        await answered(home, f"q{number:02}", number, secret if number % 4 else open_)
    past = await historian.load_history(asked(), OPEN)
    assert [turn.text for turn in past.turns[::2]] == [f"q{number:02}?" for number in range(0, 4 * MAX_ANSWERS, 4)]


def test_numbers_of_former_sources_are_taken_out() -> None:
    [_, told] = merge_turns([StoredAnswer("a", THREAD, "ada", "Who?", START, text="He [1], or she [12].")], [])
    assert told == ChatTurn("assistant", "He, or she.")
