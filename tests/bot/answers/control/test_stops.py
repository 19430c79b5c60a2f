"""An answer is stopped while it is written: by whom it may be, for good, and with what it says so far."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.answers.question import request_from_message
from bot.bot import Bot
from bot.platform.events import ButtonPressed, MessageReceived
from bot.platform.models import Message, Person
from bot.store.channels import FAR_FUTURE
from bot.texts import control
from tests.support.bot_fixture import BotFixture, with_settings
from tests.support.builders import ROOF
from tests.support.fake_platform import START
from tests.support.patience import PATIENCE

ASKED = "When do the Tiles come?"
FIRST, SECOND = "On Monday, the Tiles come [1]. ", "And Nails on Friday."
CITED = "On Monday, the Tiles come [[1]](https://chat.example/T1/ROOF/m1)"
pytestmark = [pytest.mark.usefixtures("tiles"), with_settings(llm_model="canned")]


@asynccontextmanager
async def half_an_answer(bot: BotFixture) -> AsyncIterator[tuple[Bot, Message]]:
    """Bob's question within the block, while the model has said the first half of its answer; then the answer ends."""
    bot.language.reply = (FIRST, SECOND)
    bot.language.answer_gate.clear()
    async with bot.run_bot() as running:
        asked = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
        await running.receive(MessageReceived(asked, addressed=True), asked.id)
        await bot.wait_for_reply(CITED)
        yield running, asked
        async with asyncio.timeout(PATIENCE):
            await running.event_queue.wait_until_idle()


async def wait_until_one_waits(running: Bot) -> None:
    """Wait until every event but the question is handled."""
    async with asyncio.timeout(PATIENCE):
        while await running.event_queue.depth() > 1:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)


async def press(bot: BotFixture, person: str) -> str:
    """Press the button below the answer in progress; gives what the person is told."""
    [button] = bot.last_reply.target.progress_buttons
    pressed = ButtonPressed("k1", bot.last_reply.target.location, person, button.action, button.value, "h")
    await bot.answer_buttons().handle(pressed)
    return " ".join(card.text for _, card in bot.platform.private_messages)


@pytest.mark.parametrize("person", ["bob", "max"])
async def test_asker_and_managers_stop_an_answer_which_keeps_what_it_says(bot: BotFixture, person: str) -> None:
    bot.platform.people["max"] = Person("max", "Max", is_manager=True)
    async with half_an_answer(bot):
        assert await press(bot, person) == ""
    reply = bot.last_reply
    assert reply.text == f"{CITED}\n\n_{control.format_stopped(person.title())}_"
    assert reply.closing is not None
    assert len(reply.closing.sources) == 1
    assert "stop" not in {button.action for button in reply.closing.buttons}
    stored = await bot.stored(reply)
    assert (stored.state, stored.stopped_by) == ("done", person)
    assert stored.documents >= {"slack:T1:ROOF:message:m1"}
    assert await press(bot, "bob") == ""
    assert await bot.store.unanswered.list_since("slack", "T1", START, 9) == []


async def test_another_person_stops_nothing(bot: BotFixture) -> None:
    async with half_an_answer(bot):
        assert await press(bot, "ada") == control.NOT_THE_ASKER_OR_MANAGER
        bot.language.answer_gate.set()
    assert bot.last_reply.text == f"{CITED}. {SECOND}"
    assert await press(bot, "bob") == f"{control.NOT_THE_ASKER_OR_MANAGER} {control.NOT_STOPPED}"


@pytest.mark.parametrize(
    ("person", "text", "is_stopped"), [("bob", "Stop!", True), ("bob", "stopp", True), ("ada", "stop", False)]
)
async def test_the_asker_s_word_in_the_thread_stops_it_and_mutes_nothing(
    bot: BotFixture, person: str, text: str, *, is_stopped: bool
) -> None:
    async with half_an_answer(bot) as (running, asked):
        said = bot.platform.add_message(replace(ROOF, thread=asked.id), person, text)
        await running.receive(MessageReceived(said, addressed=False), said.id)
        if not is_stopped:
            await wait_until_one_waits(running)  # after the answer, the word would mute the thread
            bot.language.answer_gate.set()
    assert ("Stopped by Bob." in bot.last_reply.text) is is_stopped
    assert (await bot.context.get_channel_settings(f"{ROOF.room}:{asked.id}")).reply_to == ""
    assert len(bot.platform.replies) == 1


async def test_a_stopped_answer_is_not_taken_up_again(bot: BotFixture) -> None:
    """As after a process that ended between the stop and the end of the answer."""
    asked = bot.platform.add_message(ROOF, "bob", f"<@BOT> {ASKED}")
    request = request_from_message(asked)
    await bot.store.answers.begin(request.to_stored_answer())
    assert await bot.store.answer_stops.stop(request.id, "bob")
    assert not await bot.store.answer_stops.stop(request.id, "max")
    await bot.answer(asked)
    assert bot.last_reply.text == f"_{control.format_stopped('Bob')}_"
    assert bot.language.prompts == []
    assert (await bot.stored(bot.last_reply)).state == "failed"
    assert await bot.store.answers.list_in_thread(bot.last_reply.target.location, FAR_FUTURE, 9) == []
