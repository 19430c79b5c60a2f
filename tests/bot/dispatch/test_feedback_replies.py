"""Who votes an answer down and says in its thread what was wrong is heard: the vote keeps the reply."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot import texts
from bot.answers.control.buttons import AnswerButtons
from bot.bot import Bot
from bot.platform.events import ButtonPressed, CommandInvoked, MessageReceived, MessagesDeleted
from bot.platform.models import Location, Message, Person
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.fake_platform import RecordedReply
from tests.support.patience import PATIENCE

ASKED = "When do the Tiles come?"
WRONG = "They moved it to Friday weeks ago"
pytestmark = pytest.mark.usefixtures("tiles")


async def vote_down(bot: BotFixture, reply: RecordedReply, person: str = "bob") -> str:
    pressed = ButtonPressed("k1", reply.target.location, person, "down", reply.target.answer, "h")
    await AnswerButtons(bot.context, bot.metrics).handle(pressed)
    return bot.platform.private_messages[-1][1].text


async def say(
    bot: BotFixture, running: Bot, place: Location, text: str, person: str = "bob", *, addressed: bool = False
) -> Message:
    said = bot.platform.add_message(place, person, text)
    await running.receive(MessageReceived(said, addressed=addressed), said.id)
    async with asyncio.timeout(PATIENCE):
        await running.event_queue.wait_until_idle()
    return said


async def list_comments(bot: BotFixture, reply: RecordedReply) -> list[str]:
    return [message for _, _, message in await bot.store.feedback.list_replies({reply.target.answer})]


@pytest.mark.parametrize(
    "text",
    [
        *(WRONG, f"<@BOT> {WRONG}", "<@BOT> Wrong week.", "Wrong week.", "you mixed up the years"),
        *("Friday, not Monday", "we moved it to Friday", "Die Antwort ist falsch, wir liefern am Freitag"),
        *("<@BOT> Das ist veraltet", "Não, é sexta-feira", "それは間違いです"),
    ],
)
async def test_a_reply_in_the_thread_is_the_comment_of_the_vote(bot: BotFixture, text: str) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert await vote_down(bot, reply) == texts.NEGATIVE_FEEDBACK
    async with bot.run_bot() as running:
        said = await say(bot, running, reply.target.location, text, addressed=text.startswith("<@BOT>"))
        assert await list_comments(bot, reply) == [said.id]
        assert bot.platform.reactions[said.id] == ["done"]
        assert bot.platform.replies == [reply], "it is no question"
        await say(bot, running, reply.target.location, "They told me so on the phone")
    assert await list_comments(bot, reply) == [said.id], "the first one counts"


@pytest.mark.parametrize(
    ("person", "text"),
    [
        ("bob", "Who brings the Tiles?"),
        ("bob", "thanks anyway"),
        ("bob", "Ada, they moved it to Friday"),
        ("bob", "<@ada> they moved it to Friday"),
        ("ada", WRONG),
    ],
)
async def test_other_messages_in_the_thread_are_no_comments(bot: BotFixture, person: str, text: str) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    await vote_down(bot, reply)
    async with bot.run_bot() as running:
        await say(bot, running, reply.target.location, "I'm back", "ada")
        await say(bot, running, reply.target.location, text, person)
    assert await list_comments(bot, reply) == []


async def test_without_a_vote_down_a_remark_is_no_comment(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    async with bot.run_bot() as running:
        said = await say(bot, running, reply.target.location, WRONG)
        assert said.id not in bot.platform.reactions
        await vote_down(bot, reply)
        elsewhere = replace(reply.target.location, thread="")
        await say(bot, running, elsewhere, WRONG)
    assert await list_comments(bot, reply) == []


async def test_in_a_direct_message_nobody_would_see_it_and_nothing_is_promised(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("DIRECT", "bob", kind="direct")
    assert await vote_down(bot, await bot.ask(direct, "bob", ASKED)) == texts.PRIVATE_NEGATIVE_FEEDBACK
    assert await vote_down(bot, await bot.ask_by_command(ROOF, "bob", ASKED)) == texts.PRIVATE_NEGATIVE_FEEDBACK


async def test_managers_see_what_the_reply_says_until_it_is_deleted(bot: BotFixture) -> None:
    bot.platform.people["max"] = Person("max", "Max", is_manager=True)
    reply = await bot.ask(ROOF, "bob", ASKED)
    await vote_down(bot, reply)
    listing = CommandInvoked("c1", ROOF, "max", "unanswered", handle="h", time=bot.clock.now())
    async with bot.run_bot() as running:
        said = await say(bot, running, reply.target.location, WRONG)

        async def list_unanswered() -> str:
            await running.receive(listing, f"c{len(bot.platform.private_messages)}")
            async with asyncio.timeout(PATIENCE):
                await running.event_queue.wait_until_idle()
            return bot.platform.private_messages[-1][1].text

        assert f"“{WRONG}”" in await list_unanswered()
        bot.platform.messages.remove(said)
        await running.receive(MessagesDeleted(ROOF, (said.id,)), "gone")
        assert WRONG not in await list_unanswered()
