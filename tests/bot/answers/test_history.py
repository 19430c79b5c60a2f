"""The history of a thread: the bot's own answers and the messages of people, in the order of time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.answers.history import MAX_ANSWERS, History, ThreadHistory
from bot.answers.question import AnswerRequest, request_from_message
from bot.errors import PlatformError
from bot.platform.events import MessagesDeleted
from bot.platform.models import Location
from bot.store import AnswerResult, AnswerSource
from engine.models import ChatTurn, CitedSource, Scope
from tests.support.bot_fixture import BotFixture
from tests.support.builders import HALL, make_answer, make_question
from tests.support.fake_platform import START

OPEN = Scope(frozenset({"slack:T1:open"}), frozenset())
VAULT = Scope(frozenset({"slack:T1:VAULT"}), frozenset())
ROOM = Scope(frozenset(), frozenset({"slack:T1:HALL"}))
THREAD = replace(HALL, thread="m1")
PLAN = AnswerSource(1, "Plan", "", "It is so.", "plan.md", "p1", "slack:T1:open", "slack:T1:HALL")


@pytest.fixture(autouse=True)
async def _hall(bot: BotFixture) -> None:
    await bot.join("HALL", "ada", "bob")


async def add_answer(bot: BotFixture, id_: str, minutes: int = 2, text: str = "Tea.", **more: Any) -> None:
    """The bot answered in the thread; the facts are of the stored answer or of its result."""
    facts = {name: more.pop(name) for name in ("spaces", "rooms", "documents", "sources") if name in more}
    time = START + timedelta(minutes=minutes)
    begun = {"location": THREAD, "question": f"<@BOT> {id_}?", "time": time, "message_id": id_, **more}
    await bot.store.answers.begin(make_answer(id_, **begun))
    await bot.store.answers.finish(id_, AnswerResult(text, **facts))


async def load(bot: BotFixture, scope: Scope = OPEN, request: AnswerRequest | None = None, **more: Any) -> History:
    facts = {"id": "now", "message": "now", "location": THREAD, "person": "bob", "time": START + timedelta(hours=1)}
    return await ThreadHistory(bot.context).load_history(request or make_question("And?", **(facts | more)), scope)


async def texts_of(bot: BotFixture, *args: Any, **more: Any) -> list[str]:
    return [turn.text for turn in (await load(bot, *args, **more)).turns]


async def test_answers_and_messages_come_in_order_without_bots_repetitions_and_what_came_later(bot: BotFixture) -> None:
    bot.platform.add_message(THREAD, "ada", "First, <@bob>.", after=60)
    bot.platform.add_message(THREAD, "robo", "Beep.", by_bot=True, after=1)
    question = bot.platform.add_message(THREAD, "ada", "<@BOT> Who?", after=59)
    await add_answer(bot, question.id, 2, "It is so. [1] [2]", spaces=OPEN.spaces, sources=(PLAN,))
    bot.platform.add_message(THREAD, "bob", "I see.", after=180)
    bot.platform.add_message(THREAD, "ada", "Later.", after=7200)
    assert (await load(bot)).turns == (
        ChatTurn("user", "Ada: First, @Bob."),
        ChatTurn("user", f"{question.id}?"),
        ChatTurn("assistant", "It is so. [1] [2]", (CitedSource(1, "plan.md", "p1", "Plan"),)),
        ChatTurn("user", "Bob: I see."),
    )


@pytest.mark.parametrize(
    ("facts", "scope", "request_facts", "visible"),
    [
        pytest.param({"spaces": VAULT.spaces}, OPEN, {}, False, id="a space out of scope"),
        pytest.param({"spaces": OPEN.spaces}, OPEN, {}, True, id="a space in scope"),
        pytest.param({"rooms": ROOM.rooms}, OPEN, {}, True, id="a room whose space is in scope"),
        pytest.param({"rooms": ROOM.rooms}, ROOM, {}, True, id="a room in scope"),
        pytest.param({"rooms": ROOM.rooms}, VAULT, {}, False, id="a room out of scope"),
        pytest.param({"private": True, "asker": "bob"}, OPEN, {}, False, id="private, asked in public"),
        pytest.param({"private": True, "asker": "bob"}, OPEN, {"private": True, "person": "ada"}, False, id="of Bob"),
        pytest.param({"private": True, "asker": "bob"}, OPEN, {"private": True}, True, id="private, to its asker"),
        pytest.param({"location": HALL}, OPEN, {"location": HALL}, False, id="a command outside of threads"),
        pytest.param(
            {"location": (talk := Location("discord", "", "D1"))}, OPEN, {"location": talk}, True, id="a direct message"
        ),
    ],
)
async def test_an_answer_is_history_for_those_who_saw_it_and_may_still_read_its_sources(
    bot: BotFixture, facts: dict[str, Any], scope: Scope, request_facts: dict[str, Any], *, visible: bool
) -> None:
    await add_answer(bot, "q1", **facts)
    assert await texts_of(bot, scope, **request_facts) == (["q1?", "Tea."] if visible else [])


async def test_the_scope_and_the_documents_of_a_history_are_known(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await add_answer(bot, "q1", spaces=OPEN.spaces, documents=frozenset({"d1"}), rooms=frozenset({yard.room}))
    bot.platform.add_message(THREAD, "ada", "So.")
    history = await load(bot)
    assert history.source_scope == Scope(OPEN.spaces, ROOM.rooms | {yard.room})
    assert "d1" in history.shown_keys


async def test_messages_of_a_closed_channel_are_history_for_its_members_only(bot: BotFixture) -> None:
    bot.platform.add_message(THREAD, "ada", "Psst.")
    bot.change_channel(THREAD, kind="closed")
    assert await texts_of(bot, OPEN, private=True) == []
    assert len(await texts_of(bot, Scope(ROOM.rooms, frozenset()), private=True)) == 1


async def test_a_message_of_somebody_unknown_has_no_name(bot: BotFixture) -> None:
    bot.platform.add_message(THREAD, "ada", "Psst.")
    del bot.platform.people["ada"]
    assert await texts_of(bot) == ["Psst."]


async def test_forgotten_messages_are_left_out_though_the_platform_shows_them(bot: BotFixture) -> None:
    first = bot.platform.add_message(THREAD, "ada", "Forget this one.")
    bot.platform.add_message(THREAD, "bob", "I am not to be read.")
    bot.platform.add_message(THREAD, "ada", "Tea?")
    await bot.store.messages.add_tombstones(THREAD.room, [first.id])
    await bot.store.opt_outs.opt_out("slack", "T1", "bob")
    assert await texts_of(bot) == ["Ada: Tea?"]
    await bot.store.opt_outs.opt_in("slack", "T1", "bob", bot.platform.current_time())
    assert await texts_of(bot) == ["Ada: Tea?"]


async def test_a_question_that_begins_a_thread_needs_no_call(bot: BotFixture) -> None:
    message = bot.platform.add_message(HALL, "ada", "<@BOT> Who?")
    bot.platform.calls.clear()
    assert await texts_of(bot, OPEN, request_from_message(message)) == []
    assert bot.platform.calls == []


async def test_the_message_or_answer_that_a_question_replies_to_is_its_history(bot: BotFixture) -> None:
    leak = bot.platform.add_message(HALL, "ada", "The roof leaks.")
    bot.platform.add_message(HALL, "ada", "The door squeaks.")
    message = bot.platform.add_message(HALL, "bob", "<@BOT> Since when?", replies_to=leak.id)
    assert await texts_of(bot, OPEN, request_from_message(message)) == ["Ada: The roof leaks."]
    await add_answer(bot, "q1", 0, spaces=OPEN.spaces, location=HALL)
    await bot.store.answers.save_reply_ref("q1", "HALL:b7,b8")
    message = bot.platform.add_message(HALL, "bob", "<@BOT> Which one?", replies_to="b8")
    assert await texts_of(bot, OPEN, request_from_message(message)) == ["q1?", "Tea."]
    await add_answer(bot, "q2", 90, spaces=OPEN.spaces, location=HALL)
    await bot.store.answers.save_reply_ref("q2", "HALL:b9")
    assert await texts_of(bot, OPEN, request_from_message(replace(message, replies_to="b9"))) == [], "it came later"


async def test_a_private_answer_that_is_replied_to_is_no_history(bot: BotFixture) -> None:
    await add_answer(bot, "q1", 0, spaces=OPEN.spaces, location=HALL, private=True)
    await bot.store.answers.save_reply_ref("q1", "HALL:b7")
    message = bot.platform.add_message(HALL, "bob", "<@BOT> Which one?", replies_to="b7")
    assert await texts_of(bot, OPEN, request_from_message(message)) == []


async def test_an_answer_that_is_begun_again_is_not_its_own_history(bot: BotFixture) -> None:
    await add_answer(bot, "q1", spaces=OPEN.spaces)
    assert await texts_of(bot) == ["q1?", "Tea."]
    assert await texts_of(bot, id="q1") == []


@pytest.mark.parametrize(
    ("state", "facts", "is_answered"),
    [
        ("done", {}, True),
        ("redacted", {}, True),
        ("started", {}, False),
        ("done", {"private": True}, False),
        ("redacted", {"private": True}, False),
        ("done", {"location": replace(HALL, channel="YARD")}, False),
    ],
)
async def test_a_thread_below_an_answer_is_one_of_the_bot_and_of_its_asker(
    bot: BotFixture, state: str, facts: dict[str, Any], *, is_answered: bool
) -> None:
    first, history = START + timedelta(minutes=5), ThreadHistory(bot.context)
    await bot.store.answers.begin(make_answer("q1", **{"location": HALL, "time": first, **facts}))
    await bot.store.answers.save_reply_ref("q1", "HALL:b7")
    if state != "started":
        await bot.store.answers.finish("q1", AnswerResult("Tea.", documents=frozenset({"d1"})))
    if state == "redacted":
        await bot.store.answers.redact(["d1"])
    thread = replace(HALL, thread="b7")
    askers = frozenset({"ada"} if is_answered else ())
    assert await history.has_answered(thread) is is_answered
    assert await history.get_askers(thread) == (askers, first if is_answered else None)
    await add_answer(bot, "q2", 9, location=thread, asker="bob")
    assert await history.get_askers(thread) == (askers | {"bob"}, START + timedelta(minutes=9))


async def test_an_answer_that_starts_a_thread_may_be_the_latest_in_it(bot: BotFixture) -> None:
    await add_answer(bot, "q1", 5, location=HALL)
    await bot.store.answers.save_reply_ref("q1", "HALL:b7")
    await add_answer(bot, "q2", 3, location=(thread := replace(HALL, thread="b7")), asker="bob")
    found = await ThreadHistory(bot.context).get_askers(thread)
    assert found == (frozenset({"ada", "bob"}), START + timedelta(minutes=5))


@pytest.mark.parametrize("removed", ["the message", "its author", "another message"])
async def test_an_answer_that_was_shown_a_message_is_redacted_with_it(bot: BotFixture, removed: str) -> None:
    message = bot.platform.add_message(THREAD, "ada", "The code is 1234.")
    history = await load(bot)
    await add_answer(bot, "q1", 70, "It is 1234.", documents=history.shown_keys, asker="bob")
    if removed == "its author":
        await bot.forget_person("ada")
    else:
        id_ = message.id if removed == "the message" else "another"
        await bot.ingest_service.handle(MessagesDeleted(THREAD, (id_,)))
    found = await bot.store.answers.get("q1")
    assert found
    assert (found.state, bool(found.text)) == (("done", True) if removed == "another message" else ("redacted", False))


async def test_a_platform_that_fails_hides_no_answer(bot: BotFixture) -> None:
    await add_answer(bot, "q1")
    bot.platform.failing["thread"] = PlatformError("Down.")
    assert len(await texts_of(bot)) == 2


async def test_the_newest_answers_in_scope_are_told(bot: BotFixture) -> None:
    for number in range(4 * MAX_ANSWERS):
        await add_answer(bot, f"q{number:02}", number, spaces=VAULT.spaces if number % 4 else OPEN.spaces)
    assert (await texts_of(bot))[::2] == [f"q{number:02}?" for number in range(0, 4 * MAX_ANSWERS, 4)]
    assert (await texts_of(bot, Scope(VAULT.spaces | OPEN.spaces, frozenset())))[::2] == [
        f"q{number:02}?" for number in range(3 * MAX_ANSWERS, 4 * MAX_ANSWERS)
    ]
