"""A question is answered again: in place, by its asker alone, once for each press, without old ratings."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot import texts
from bot.answers.control.repeats import AnswerRepeater
from bot.platform.events import ButtonPressed
from bot.platform.models import Location, Message
from bot.texts import control
from engine.errors import ModelUnavailable
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF
from tests.support.fake_platform import START, RecordedReply

ASKED = "When do the Tiles come?"
FIRST, SECOND = "On Monday, the Tiles come [1].", "The Tiles? Monday [1]."
LINK = "[[1]](https://chat.example/T1/ROOF/m1)"
pytestmark = pytest.mark.usefixtures("tiles")


def again_button(reply: RecordedReply) -> str:
    """The value of the button that asks again, which the card behind "Improve this answer" offers."""
    assert reply.closing is not None
    [value] = [button.value for button in reply.closing.buttons if button.action in {"again", "improve"}]
    answer, _, attempt = value.partition(":")
    return f"{answer}:{attempt or 0}"


async def press(bot: BotFixture, value: str, person: str = "bob", *, id_: str = "k1", at: Location = ROOF) -> str:
    """Press the button; gives what the person is told."""
    before = len(bot.platform.private_messages)
    repeater = AnswerRepeater(bot.context, bot.answer_service)
    await repeater.handle(ButtonPressed(id_, at, person, "again", value, "h"))
    return " ".join(card.text for _, card in bot.platform.private_messages[before:])


async def test_another_answer_takes_the_place_of_the_first_and_has_no_rating_of_it(bot: BotFixture) -> None:
    bot.language.reply = (FIRST,)
    reply = await bot.ask(ROOF, "bob", ASKED)
    value, first = again_button(reply), await bot.stored(reply)
    await bot.store.feedback.record(first.id, "ada", up=False)
    bot.language.reply = (SECOND,)
    assert await press(bot, value) == ""
    assert bot.platform.replies == [reply]
    assert reply.text == f"The Tiles? Monday {LINK}."
    stored = await bot.stored(reply)
    assert (stored.state, stored.attempt, stored.text) == ("done", 1, SECOND)
    assert stored.documents == first.documents
    assert await bot.store.feedback.count("slack", "T1", START) == (0, 0)
    assert len(bot.language.prompts) == 2
    assert await press(bot, value, id_="k2") == control.REPLACED
    assert await press(bot, value, id_="k1") == control.REPLACED
    assert len(bot.language.prompts) == 2
    assert again_button(reply) == f"{stored.id}:1"
    assert await press(bot, again_button(reply), id_="k3") == ""
    assert len(bot.language.prompts) == 3


async def test_only_the_asker_asks_again(bot: BotFixture) -> None:
    value = again_button(await bot.ask(ROOF, "bob", ASKED))
    assert await press(bot, value, "ada") == texts.NOT_THE_ASKER
    assert await press(bot, value, at=replace(ROOF, workspace="T2")) == texts.NO_ANSWER
    assert await press(bot, value.replace(":0", ":x")) == texts.NO_ANSWER
    assert len(bot.language.prompts) == 1


@with_settings(questions_per_minute=1)
async def test_another_answer_counts_as_a_question(bot: BotFixture) -> None:
    value = again_button(await bot.ask(ROOF, "bob", ASKED))
    assert await press(bot, value) == texts.TOO_MANY_QUESTIONS
    assert len(bot.language.prompts) == 1


async def test_a_failed_answer_can_be_tried_again(bot: BotFixture) -> None:
    bot.language.reply = (ModelUnavailable("Away."),)
    reply = await bot.ask(ROOF, "bob", ASKED)
    bot.language.reply = (FIRST,)
    await press(bot, again_button(reply))
    assert reply.text == f"On Monday, the Tiles come {LINK}."


async def test_a_private_answer_is_a_new_message_whose_rating_is_its_own(bot: BotFixture) -> None:
    private = await bot.ask_by_command(ROOF, "bob", ASKED)
    bot.platform.replies.clear()  # an ephemeral message cannot be found again
    await press(bot, again_button(private))
    [reply] = bot.platform.replies
    assert (reply.target.private, reply.target.person, reply.target.handle) == (True, "bob", "h")
    for value, counted in ((reply.target.answer, 0), (f"{reply.target.answer}:1", 1)):
        await bot.answer_buttons().handle(ButtonPressed("k9", ROOF, "bob", "up", value, "h"))
        assert await bot.store.feedback.count("slack", "T1", START) == (counted, 0)


async def test_after_a_crash_the_same_press_goes_on_and_another_does_nothing(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    value, id_ = again_button(reply), reply.target.answer
    assert await bot.store.answer_repeats.begin(id_, 0, "k1", 1.0)
    assert await press(bot, value, id_="k2") == ""
    assert len(bot.language.prompts) == 1
    assert await press(bot, value, id_="k1") == ""
    assert len(bot.language.prompts) == 2
    assert (await bot.stored(reply)).state == "done"


async def test_what_was_edited_before_can_be_used_and_what_goes_meanwhile_cannot(
    bot: BotFixture, tiles: Message
) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    await bot.edit(await bot.post_indexed(ROOF, "ada", "More Tiles come on Friday."), "More Tiles come on Sunday.")
    await bot.engine.wait_until_indexed()
    await press(bot, again_button(reply), id_="k2")
    assert "Sunday" in reply.text

    bot.language.reply = ("The Tiles come ", "on Monday [1].")
    bot.language.answer_gate.clear()
    bot.language.piece_sent.clear()
    working = asyncio.create_task(press(bot, again_button(reply), id_="k3"))
    await bot.language.piece_sent.wait()
    await bot.delete(tiles)
    bot.language.answer_gate.set()
    await working
    assert reply.text == texts.SOURCE_REMOVED
    assert await press(bot, f"{reply.target.answer}:2", id_="k4") == texts.NO_ANSWER
