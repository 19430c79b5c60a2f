"""A press asks the suggested question for whoever pressed, once, where the answer is, if they may read and ask."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import texts
from bot.answers.control.repeats import AnswerRepeater
from bot.answers.service import AnswerService
from bot.answers.suggestions.presses import SuggestionPresses
from bot.errors import PlatformError
from bot.platform.events import ButtonPressed
from bot.platform.models import Location
from bot.store import AnswerResult
from bot.texts import control
from bot.texts import suggestions as suggestion_texts
from engine.errors import ModelUnavailable
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF, make_answer

THREAD = replace(ROOF, thread="m1")
QUESTION = "When do the Tiles come?"
pytestmark = pytest.mark.usefixtures("tiles")


@pytest.fixture(autouse=True)
async def _answer(bot: BotFixture) -> None:
    await store_answer(bot)


async def store_answer(bot: BotFixture, *, used_keys: frozenset[str] = frozenset(), **facts: object) -> None:
    await bot.store.answers.begin(make_answer(**{"location": THREAD, **facts}))  # type: ignore[arg-type]
    result = AnswerResult("Soon.", documents=used_keys, spaces=frozenset({"slack:T1:open"}), suggestions=(QUESTION,))
    assert await bot.store.answers.finish("a1", result)


async def press(
    bot: BotFixture, person: str = "bob", *, value: str = "a1:0:0", id_: str = "k1", at: Location = THREAD
) -> str:
    """Press the button; gives what the person is told."""
    before = len(bot.platform.private_messages)
    presses = SuggestionPresses(bot.context, bot.answer_service)
    await presses.handle(ButtonPressed(id_, at, person, "suggestion", value, "h"))
    return " ".join(card.text for _, card in bot.platform.private_messages[before:])


async def test_the_question_is_asked_in_the_thread_as_whoever_pressed_and_once(bot: BotFixture) -> None:
    assert await press(bot) == ""
    [reply] = bot.platform.replies
    assert (reply.target.location, reply.target.person, reply.target.private) == (THREAD, "bob", False)
    assert reply.target.handle == ""
    assert reply.text.startswith(f"> **Bob asked:** {QUESTION}")
    assert await press(bot, id_="k2") == suggestion_texts.ALREADY_ASKED
    assert bot.platform.replies == [reply]
    assert await press(bot, "ada", id_="k3") == ""
    assert len(bot.platform.replies) == 2


async def test_a_removed_source_of_the_button_takes_back_the_question_that_was_asked(bot: BotFixture) -> None:
    await bot.store.answers.delete("a1")
    await store_answer(bot, used_keys=frozenset({"slack:T1:ROOF:message:m7"}))
    bot.language.reply = ("Monday. [1]",)
    assert await press(bot) == ""
    asked = bot.last_reply.target.answer
    again = AnswerRepeater(bot.context, bot.answer_service)
    await again.handle(ButtonPressed("k2", THREAD, "bob", "again", f"{asked}:0", "h"))
    stored = await bot.store.answers.get(asked)
    assert stored is not None
    assert (stored.question, stored.attempt, stored.state) == (QUESTION, 1, "done")
    await bot.store.answers.redact(["slack:T1:ROOF:message:m7"])
    stored = await bot.store.answers.get(asked)
    assert stored is not None
    assert (stored.question, stored.state) == ("", "redacted")
    due = await bot.store.answer_corrections.list_due(bot.clock.time() + 60, ["slack:T1"], 9)
    assert asked in {correction.answer_id for correction in due}


async def test_a_private_answer_suggests_to_its_asker_alone_and_in_private(bot: BotFixture) -> None:
    await bot.store.answers.delete("a1")
    await store_answer(bot, private=True, asker="bob")
    assert await press(bot, "ada") == texts.NOT_THE_ASKER
    assert await press(bot) == ""
    [reply] = bot.platform.replies
    assert (reply.target.private, reply.target.handle, reply.target.person) == (True, "h", "bob")


async def test_who_cannot_read_the_channel_or_what_the_answer_rests_on_gets_nothing(bot: BotFixture) -> None:
    bot.platform.add_channel("WAGES", "ada", kind="closed")
    wages = replace(ROOF, channel="WAGES")
    await bot.store.answers.delete("a1")
    await store_answer(bot, location=wages)
    assert await press(bot, at=wages) == texts.NO_ANSWER
    assert await press(bot, at=THREAD) == texts.NO_ANSWER
    await bot.store.answers.delete("a1")
    await bot.store.answers.begin(make_answer(location=THREAD))
    drawn = AnswerResult("Soon.", spaces=frozenset({wages.room}), suggestions=(QUESTION,))
    assert await bot.store.answers.finish("a1", drawn)
    assert await press(bot) == texts.NO_ANSWER
    assert bot.platform.replies == []


@pytest.mark.parametrize("value", ["a1:0:1", "a1:0:x", "a1:0:-1", "a1:0", "a1", "", "a2:0:0", "a1:0:²"])
async def test_a_forged_button_asks_nothing(bot: BotFixture, value: str) -> None:
    assert await press(bot, value=value) == texts.NO_ANSWER
    assert await press(bot, at=replace(THREAD, workspace="T2")) == texts.NO_ANSWER
    assert bot.platform.replies == []


async def test_a_button_of_a_replaced_or_redacted_answer_says_so(bot: BotFixture) -> None:
    assert await press(bot, value="a1:1:0") == control.REPLACED
    await bot.store.answers.redact_one("a1")
    assert await press(bot) == texts.NO_ANSWER


async def test_the_channel_decides_who_may_ask(bot: BotFixture) -> None:
    await bot.save_settings(ROOF, askers="<@ada>")
    assert await press(bot) == texts.ONLY_SOME_ASK
    assert bot.platform.replies == []
    assert await press(bot, "ada", id_="k2") == ""


@with_settings(questions_per_minute=1)
async def test_a_press_counts_as_a_question(bot: BotFixture) -> None:
    await bot.ask(ROOF, "bob", QUESTION)
    assert await press(bot) == texts.TOO_MANY_QUESTIONS


async def test_a_failed_question_can_be_asked_again(bot: BotFixture) -> None:
    bot.language.reply = (ModelUnavailable("Away."),)
    await press(bot)
    bot.language.reply = ()
    assert await press(bot, id_="k2") == ""
    assert "Monday" in bot.last_reply.text


async def test_in_a_direct_message_it_is_asked_there(bot: BotFixture) -> None:
    alone = bot.platform.add_channel("ALONE", "bob", kind="direct")
    await bot.store.answers.delete("a1")
    await store_answer(bot, location=alone, asker="bob")
    assert await press(bot, at=alone) == ""
    [reply] = bot.platform.replies
    assert (reply.target.location, reply.target.private) == (alone, False)
    assert await press(bot, "ada", at=alone, id_="k2") == texts.NO_ANSWER


async def test_after_a_crash_the_same_press_goes_on(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    async def crash(*_: object) -> bool:
        raise PlatformError("Away.")

    with monkeypatch.context() as patch:
        patch.setattr(AnswerService, "answer", crash)
        with pytest.raises(PlatformError):
            await press(bot)
    assert bot.platform.replies == []
    assert await press(bot) == ""
    assert "Monday" in bot.last_reply.text


async def test_a_question_that_a_crash_interrupted_goes_if_it_is_suggested_no_more(bot: BotFixture) -> None:
    assert await press(bot) == ""
    asked = bot.last_reply.target.answer
    begun = await bot.store.answers.get(asked)
    assert begun is not None
    await bot.store.answers.delete(asked)
    await bot.store.answers.begin(begun)
    await bot.store.answers.save_reply_ref(asked, begun.reply_ref)
    await bot.store.answers.redact_one("a1")
    assert await press(bot) == texts.NO_ANSWER
    left = await bot.store.answers.get(asked)
    assert left is not None
    assert (left.question, left.state) == ("", "failed")
    due = await bot.store.answer_corrections.list_due(bot.clock.time() + 60, ["slack:T1"], 9)
    assert asked in {correction.answer_id for correction in due}
