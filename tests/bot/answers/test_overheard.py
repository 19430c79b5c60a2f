"""What is said in the bot's threads without naming it: answered if it is a question to the bot, else not a word."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from bot import texts
from bot.bot import Bot
from bot.platform.events import MessageReceived
from engine.llm.offline.model import NOTHING_FOUND
from tests.support.answering_fixture import AnsweringFixture, CannedLanguage, open_answering_bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import date
    from pathlib import Path

    from bot.platform.models import Location, Message
    from engine.models import ChatTurn, SearchQuery
    from engine.usage import UsageMeter


class Deciding(CannedLanguage):
    """Takes no message for a question to it that has one of these words."""

    ignored: frozenset[str] = frozenset()

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        return (
            None
            if self.ignored & set(text.split())
            else await self.rewrite_query(text, history, bill, today=today, asker=asker)
        )


@dataclass
class Thread:
    """A thread in which Bob asked, and the bot answered."""

    home: AnsweringFixture
    bot: Bot
    place: Location

    async def said(self, person: str, text: str) -> Message:
        """Somebody says something there, and the bot is done with it."""
        message = self.home.platform.add_message(self.place, person, text)
        await self.bot.receive(MessageReceived(message, addressed=False), message.id)
        await self.bot.event_queue.wait_until_idle()
        return message

    @property
    def traces(self) -> tuple[int, int, int]:
        """All that the bot ever showed: replies, private messages, posts."""
        platform = self.home.platform
        return len(platform.replies), len(platform.private_messages), len(platform.posts)

    async def indexed(self, message: Message) -> bool:
        """Whether something was learned from a message."""
        known = await self.home.context.store.messages.get(message.location.room, message.id)
        return known is not None and bool(known.document)


@asynccontextmanager
async def thread(folder: Path, language: CannedLanguage, **settings: Any) -> AsyncIterator[Thread]:
    async with (
        open_answering_bot(folder, language, **settings) as home,
        Bot.open(home.context.engine_context, home.context.store, home.context.settings) as bot,
    ):
        bot.attach(home.platform)
        roof = await home.join_channel("ROOF", "ada", "bob")
        await home.post(roof, "ada", "The Tiles come on Monday.")
        await home.wait_until_indexed()
        question = home.platform.add_message(roof, "bob", "When do the Tiles come?")
        await bot.receive(MessageReceived(question, addressed=True), question.id)
        await bot.event_queue.wait_until_idle()
        assert home.platform.replies[-1].closing is not None
        yield Thread(home, bot, replace(roof, thread=question.id))


async def test_a_question_is_answered_in_the_thread(tmp_path: Path) -> None:
    async with thread(tmp_path, CannedLanguage()) as here:
        message = await here.said("bob", "And who brings the Tiles?")
        assert here.home.last_reply.target.message == message.id
        assert "Tiles" in here.home.last_reply.text
        assert not await here.indexed(message)


@pytest.mark.parametrize("text", ["thanks!", "lol", "👍", "who cares", "@ada can you call them?", "I call them."])
async def test_anything_else_is_read_like_every_message_and_nothing_is_said(tmp_path: Path, text: str) -> None:
    async with thread(tmp_path, CannedLanguage()) as here:
        before = here.traces
        message = await here.said("bob", text)
        assert here.traces == before
        assert await here.indexed(message)
        assert message.id not in here.home.platform.reactions


@pytest.mark.parametrize("reply", [NOTHING_FOUND, "The sources say nothing of that."])
async def test_that_nothing_was_found_is_never_said(tmp_path: Path, reply: str) -> None:
    language = CannedLanguage()
    async with thread(tmp_path, language) as here:
        before, prompts = here.traces, len(language.prompts)
        language.reply = tuple(reply.split(" "))
        message = await here.said("bob", "Who painted the Tiles?")
        assert len(language.prompts) == prompts + 1
        assert here.traces == before
        assert await here.home.context.store.answers.get_by_message(here.place.without_thread, message.id) is None
        assert await here.indexed(message)


async def test_nor_where_there_is_nothing_to_answer_from(tmp_path: Path) -> None:
    async with thread(tmp_path, CannedLanguage()) as here:
        await here.home.delete(*(each for each in here.home.platform.messages if each.author == "ada"))
        before = here.traces
        await here.said("bob", "Who painted it?")
        assert here.traces == before


async def test_nor_that_something_went_wrong(tmp_path: Path) -> None:
    language = CannedLanguage()
    async with thread(tmp_path, language) as here:
        before = here.traces
        language.reply = (RuntimeError("out of reach"),)
        message = await here.said("bob", "And who brings the Tiles?")
        assert here.traces == before
        assert await here.indexed(message)


async def test_an_answer_that_broke_off_says_so(tmp_path: Path) -> None:
    language = CannedLanguage()
    async with thread(tmp_path, language) as here:
        language.reply = ("On Monday [1], ", RuntimeError("out of reach"))
        await here.said("bob", "And who brings the Tiles?")
        assert texts.BROKEN_OFF in here.home.last_reply.text


async def test_a_model_may_say_that_a_message_is_not_for_it(tmp_path: Path) -> None:
    language = Deciding()
    language.ignored = frozenset({"them?"})
    async with thread(tmp_path, language, llm_model="openai/some") as here:
        before, prompts = here.traces, len(language.prompts)
        message = await here.said("bob", "Is it worth calling them?")
        assert here.traces == before
        assert len(language.prompts) == prompts
        assert await here.indexed(message)
        await here.said("bob", "the Tiles, by whom")
        assert here.traces[0] == before[0] + 1


async def test_thanks_that_name_the_bot_get_a_reaction_and_no_more(tmp_path: Path) -> None:
    async with thread(tmp_path, CannedLanguage()) as here:
        before = here.traces
        message = here.home.platform.add_message(here.place, "bob", "<@BOT> thanks a lot!")
        await here.bot.receive(MessageReceived(message, addressed=True), message.id)
        await here.bot.event_queue.wait_until_idle()
        assert here.traces == before
        assert here.home.platform.reactions[message.id] == ["done"]
