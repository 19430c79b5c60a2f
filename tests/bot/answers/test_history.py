"""What was said in a thread before: the bot's own answers, and what others said, in the order of time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.answers.history import ANSWERS, Historian, merged
from bot.answers.request import Request, heard
from bot.errors import PlatformError
from bot.platform.events import Deleted
from bot.platform.models import Place
from bot.store import Outcome, Stored
from engine.models import Scope, Turn
from tests.support.asking import Asking, asking
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
THREAD = Place("slack", "T1", "HALL", "m1")


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home") as opened:
        await opened.joined("HALL", "ada", "bob")
        yield opened


@pytest.fixture
def historian(home: Asking) -> Historian:
    return Historian(home.house)


async def answered(home: Asking, id_: str, minutes: int, outcome: Outcome, **more: object) -> None:
    """The bot has answered in the thread."""
    begun = Stored(id_, THREAD, "ada", f"<@BOT> {id_}?", START + timedelta(minutes=minutes), message=id_)
    await home.house.store.answers.begin(replace(begun, **more))  # type: ignore[arg-type]
    await home.house.store.answers.finish(id_, outcome)


def asked(minutes: int = 60, **more: object) -> Request:
    request = Request("now", THREAD, "bob", "And?", START + timedelta(minutes=minutes), message="now")
    return replace(request, **more)  # type: ignore[arg-type]


async def test_answers_and_what_others_said_come_in_order(home: Asking, historian: Historian) -> None:
    home.platform.say(THREAD, "ada", "First, <@bob>.", after=60)
    await answered(home, "q1", 2, Outcome("It is so. [1] [2]", spaces=frozenset(OPEN.spaces)))
    home.platform.say(THREAD, "bob", "I see.", after=240)
    past = await historian.before(asked(), OPEN)
    assert past.turns == (
        Turn("user", "Ada: First, @Bob."),
        Turn("user", "q1?"),
        Turn("assistant", "It is so."),
        Turn("user", "Bob: I see."),
    )


async def test_a_question_is_not_told_twice(home: Asking, historian: Historian) -> None:
    message = home.platform.say(THREAD, "ada", "<@BOT> Who?")
    await answered(home, message.id, 1, Outcome("He."))
    assert [turn.text for turn in (await historian.before(asked(), OPEN)).turns] == [f"{message.id}?", "He."]


async def test_bots_are_left_out_and_what_came_later(home: Asking, historian: Historian) -> None:
    home.platform.say(THREAD, "robo", "Beep.", by_bot=True)
    home.platform.say(THREAD, "ada", "Later.", after=3600 * 2)
    assert (await historian.before(asked(), OPEN)).turns == ()


async def test_an_answer_from_elsewhere_out_of_scope_is_left_out(home: Asking, historian: Historian) -> None:
    await answered(home, "q1", 2, Outcome("The key is here.", spaces=frozenset({"slack:T1:VAULT"})))
    await answered(home, "q2", 3, Outcome("Tea.", spaces=frozenset({"slack:T1:open"})))
    past = await historian.before(asked(), OPEN)
    assert [turn.text for turn in past.turns] == ["q2?", "Tea."]


async def test_one_that_drew_on_rooms_counts_where_these_lie_in_scope(home: Asking, historian: Historian) -> None:
    await answered(home, "q1", 2, Outcome("Tea.", rooms=frozenset({"slack:T1:HALL"})))
    assert len((await historian.before(asked(), OPEN)).turns) == 2
    assert len((await historian.before(asked(), Scope(frozenset(), frozenset({"slack:T1:HALL"})))).turns) == 2
    assert (await historian.before(asked(), Scope(frozenset({"slack:T1:VAULT"}), frozenset()))).turns == ()


async def test_what_it_drew_on_and_its_documents_are_told(home: Asking, historian: Historian) -> None:
    outcome = Outcome("Tea.", spaces=frozenset({"slack:T1:open"}), documents=frozenset({"d1"}))
    await answered(home, "q1", 2, outcome)
    home.platform.say(THREAD, "ada", "So.")
    past = await historian.before(asked(), OPEN)
    assert past.drawn == Scope(frozenset({"slack:T1:open"}), frozenset({"slack:T1:HALL"}))
    assert "d1" in past.shown


async def test_a_private_answer_is_for_its_asker_in_private(home: Asking, historian: Historian) -> None:
    await answered(home, "q1", 2, Outcome("Psst."), private=True, asker="bob")
    assert (await historian.before(asked(), OPEN)).turns == ()
    assert (await historian.before(asked(private=True, person="ada"), OPEN)).turns == ()
    assert len((await historian.before(asked(private=True), OPEN)).turns) == 2


async def test_what_the_reader_may_not_read_there_is_left_out(home: Asking, historian: Historian) -> None:
    home.platform.say(THREAD, "ada", "Psst.")
    home.platform.change("HALL", kind="closed")
    home.house.readers.forget(THREAD)
    assert (await historian.before(asked(private=True), OPEN)).turns == ()
    own = Scope(frozenset({"slack:T1:HALL"}), frozenset())
    assert len((await historian.before(asked(private=True), own)).turns) == 1


async def test_what_was_to_be_forgotten_is_not_told_from_the_platform(home: Asking, historian: Historian) -> None:
    first = home.platform.say(THREAD, "ada", "Forget this one.")
    home.platform.say(THREAD, "bob", "I am not to be read.")
    home.platform.say(THREAD, "ada", "Tea?")
    await home.house.store.messages.note_deleted(THREAD.room, [first.id])
    await home.house.store.people.opt_out("slack", "T1", "bob")
    past = await historian.before(asked(), OPEN)
    assert [turn.text for turn in past.turns] == ["Ada: Tea?"]
    await home.house.store.people.opt_in("slack", "T1", "bob", home.platform.present())
    assert (await historian.before(asked(), OPEN)).turns == past.turns


async def test_a_thread_that_only_begins_asks_the_platform_nothing(home: Asking, historian: Historian) -> None:
    message = home.platform.say(Place("slack", "T1", "HALL"), "ada", "<@BOT> Who?")
    home.platform.calls.clear()
    assert (await historian.before(heard(message), OPEN)).turns == ()
    assert home.platform.calls == []


async def test_what_a_question_replies_to_is_told(home: Asking, historian: Historian) -> None:
    place = Place("slack", "T1", "HALL")
    said = home.platform.say(place, "ada", "The roof leaks.")
    home.platform.say(place, "ada", "The door squeaks.")
    message = home.platform.say(place, "bob", "<@BOT> Since when?", replies_to=said.id)
    past = await historian.before(heard(message), OPEN)
    assert [turn.text for turn in past.turns] == ["Ada: The roof leaks."]


async def test_the_answer_that_a_question_replies_to_is_told(home: Asking, historian: Historian) -> None:
    place = Place("slack", "T1", "HALL")
    await answered(home, "q1", 0, Outcome("Tea.", spaces=OPEN.spaces), place=place)
    await home.house.store.answers.mark("q1", "HALL:b7,b8")
    message = home.platform.say(place, "bob", "<@BOT> Which one?", replies_to="b8")
    assert [turn.text for turn in (await historian.before(heard(message), OPEN)).turns] == ["q1?", "Tea."]


@pytest.mark.parametrize("gone", ["the message", "all of its author"])
async def test_an_answer_that_was_told_a_message_is_blank_once_that_is_gone(
    home: Asking, historian: Historian, gone: str
) -> None:
    said = home.platform.say(THREAD, "ada", "The code is 1234.")
    past = await historian.before(asked(), OPEN)
    await answered(home, "q1", 70, Outcome("It is 1234.", documents=past.shown), asker="bob")
    if gone == "the message":
        await home.listening.take(Deleted(THREAD, (said.id,)))
    else:
        await home.listening.forget_person("slack", "T1", "ada")
    found = await home.house.store.answers.get("q1")
    assert found
    assert (found.state, found.text) == ("blanked", "")


async def test_what_an_answer_was_told_of_one_message_outlives_another_one(home: Asking, historian: Historian) -> None:
    home.platform.say(THREAD, "ada", "The code is 1234.")
    past = await historian.before(asked(), OPEN)
    await answered(home, "q1", 70, Outcome("It is 1234.", documents=past.shown))
    await home.listening.take(Deleted(THREAD, ("another",)))
    found = await home.house.store.answers.get("q1")
    assert found
    assert found.state == "done"


async def test_a_platform_that_fails_costs_no_answer(home: Asking, historian: Historian) -> None:
    await answered(home, "q1", 2, Outcome("Tea."))
    home.platform.failing["thread"] = PlatformError("Down.")
    assert len((await historian.before(asked(), OPEN)).turns) == 2


async def test_a_command_outside_of_threads_has_no_past(home: Asking, historian: Historian) -> None:
    await answered(home, "q1", 2, Outcome("Tea."), place=replace(THREAD, thread=""))
    assert (await historian.before(asked(place=replace(THREAD, thread="")), OPEN)).turns == ()


async def test_a_talk_without_threads_has_one(home: Asking, historian: Historian) -> None:
    talk = Place("discord", "", "D1")
    await answered(home, "q1", 2, Outcome("Tea."), place=talk)
    assert len((await historian.before(asked(place=talk), OPEN)).turns) == 2


async def test_only_the_newest_answers_are_told(home: Asking, historian: Historian) -> None:
    for number in range(ANSWERS + 5):
        await answered(home, f"q{number}", number, Outcome("Tea."))
    past = await historian.before(asked(), OPEN)
    assert len(past.turns) == 2 * ANSWERS
    assert past.turns[-2].text == f"q{ANSWERS + 4}?"


async def test_those_out_of_scope_take_nobody_s_place(home: Asking, historian: Historian) -> None:
    open_, secret = (Outcome("Tea.", spaces=frozenset({f"slack:T1:{name}"})) for name in ("open", "VAULT"))
    for number in range(4 * ANSWERS):
        await answered(home, f"q{number:02}", number, secret if number % 4 else open_)
    past = await historian.before(asked(), OPEN)
    assert [turn.text for turn in past.turns[::2]] == [f"q{number:02}?" for number in range(0, 4 * ANSWERS, 4)]


def test_numbers_of_former_sources_are_taken_out() -> None:
    [_, told] = merged([Stored("a", THREAD, "ada", "Who?", START, text="He [1], or she [12].")], [])
    assert told == Turn("assistant", "He, or she.")
