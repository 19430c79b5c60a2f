"""What is said in the bot's threads without naming it: answered if it is a question to the bot, else not a word."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from bot import texts
from bot.bot import Bot
from bot.platform.events import Heard
from engine.llm.offline.model import NOTHING_FOUND
from tests.support.asking import Asking, Speaker, asking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import date
    from pathlib import Path

    from bot.platform.models import Message, Place
    from engine.models import Condensed, Turn
    from engine.usage import Bill


class Deciding(Speaker):
    """Takes no message for a question to it that has one of these words."""

    ignored: frozenset[str] = frozenset()

    async def condense_overheard(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed | None:
        return (
            None
            if self.ignored & set(text.split())
            else await self.condense(text, history, bill, today=today, asker=asker)
        )


@dataclass
class Thread:
    """A thread in which Bob asked, and the bot answered."""

    home: Asking
    bot: Bot
    place: Place

    async def said(self, person: str, text: str) -> Message:
        """Somebody says something there, and the bot is done with it."""
        message = self.home.platform.say(self.place, person, text)
        await self.bot.hear(Heard(message, addressed=False), message.id)
        await self.bot.inbox.idle()
        return message

    @property
    def traces(self) -> tuple[int, int, int]:
        """All that the bot ever showed: replies, private messages, posts."""
        platform = self.home.platform
        return len(platform.replies), len(platform.whispers), len(platform.posts)

    async def indexed(self, message: Message) -> bool:
        """Whether something was learned from a message."""
        known = await self.home.house.store.messages.get(message.place.room, message.id)
        return known is not None and bool(known.document)


@asynccontextmanager
async def thread(folder: Path, language: Speaker, **settings: Any) -> AsyncIterator[Thread]:
    async with (
        asking(folder, language, **settings) as home,
        Bot.open(home.house.desk, home.house.store, home.house.settings) as bot,
    ):
        bot.attach(home.platform)
        roof = await home.joined("ROOF", "ada", "bob")
        await home.say(roof, "ada", "The Tiles come on Monday.")
        await home.learnt()
        question = home.platform.say(roof, "bob", "When do the Tiles come?")
        await bot.hear(Heard(question, addressed=True), question.id)
        await bot.inbox.idle()
        assert home.platform.replies[-1].closing is not None
        yield Thread(home, bot, replace(roof, thread=question.id))


async def test_a_question_is_answered_in_the_thread(tmp_path: Path) -> None:
    async with thread(tmp_path, Speaker()) as here:
        message = await here.said("bob", "And who brings the Tiles?")
        assert here.home.reply.target.message == message.id
        assert "Tiles" in here.home.reply.text
        assert not await here.indexed(message)


@pytest.mark.parametrize("text", ["thanks!", "lol", "👍", "who cares", "@ada can you call them?", "I call them."])
async def test_anything_else_is_read_like_every_message_and_nothing_is_said(tmp_path: Path, text: str) -> None:
    async with thread(tmp_path, Speaker()) as here:
        before = here.traces
        message = await here.said("bob", text)
        assert here.traces == before
        assert await here.indexed(message)
        assert message.id not in here.home.platform.signs


@pytest.mark.parametrize("reply", [NOTHING_FOUND, "The sources say nothing of that."])
async def test_that_nothing_was_found_is_never_said(tmp_path: Path, reply: str) -> None:
    language = Speaker()
    async with thread(tmp_path, language) as here:
        before, prompts = here.traces, len(language.prompts)
        language.reply = tuple(reply.split(" "))
        message = await here.said("bob", "Who painted the Tiles?")
        assert len(language.prompts) == prompts + 1
        assert here.traces == before
        assert await here.home.house.store.answers.of_message(here.place.main, message.id) is None
        assert await here.indexed(message)


async def test_nor_where_there_is_nothing_to_answer_from(tmp_path: Path) -> None:
    async with thread(tmp_path, Speaker()) as here:
        await here.home.delete(*(each for each in here.home.platform.messages if each.author == "ada"))
        before = here.traces
        await here.said("bob", "Who painted it?")
        assert here.traces == before


async def test_nor_that_something_went_wrong(tmp_path: Path) -> None:
    language = Speaker()
    async with thread(tmp_path, language) as here:
        before = here.traces
        language.reply = (RuntimeError("out of reach"),)
        message = await here.said("bob", "And who brings the Tiles?")
        assert here.traces == before
        assert await here.indexed(message)


async def test_an_answer_that_broke_off_says_so(tmp_path: Path) -> None:
    language = Speaker()
    async with thread(tmp_path, language) as here:
        language.reply = ("On Monday [1], ", RuntimeError("out of reach"))
        await here.said("bob", "And who brings the Tiles?")
        assert texts.BROKEN_OFF in here.home.reply.text


async def test_a_model_may_say_that_a_message_is_not_for_it(tmp_path: Path) -> None:
    language = Deciding()
    language.ignored = frozenset({"them?"})
    async with thread(tmp_path, language, model="openai/some") as here:
        before, prompts = here.traces, len(language.prompts)
        message = await here.said("bob", "Is it worth calling them?")
        assert here.traces == before
        assert len(language.prompts) == prompts
        assert await here.indexed(message)
        await here.said("bob", "the Tiles, by whom")
        assert here.traces[0] == before[0] + 1


async def test_thanks_that_name_the_bot_get_a_reaction_and_no_more(tmp_path: Path) -> None:
    async with thread(tmp_path, Speaker()) as here:
        before = here.traces
        message = here.home.platform.say(here.place, "bob", "<@BOT> thanks a lot!")
        await here.bot.hear(Heard(message, addressed=True), message.id)
        await here.bot.inbox.idle()
        assert here.traces == before
        assert here.home.platform.signs[message.id] == ["done"]
