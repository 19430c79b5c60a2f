"""Messages in the bot's threads that do not mention it: answered if they are questions to it, else only indexed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import pytest

from bot import texts
from bot.bot import Bot
from bot.platform.events import MessageReceived
from bot.platform.models import Location, Message
from engine.llm.offline.model import NOTHING_FOUND
from engine.llm.offline.quoting.notices import CLOSEST
from engine.models import ChatTurn, SearchQuery
from engine.usage import UsageMeter
from tests.support.bot_fixture import BotFixture, open_bot
from tests.support.canned_language import CannedLanguage


class DecidingLanguage(CannedLanguage):
    """Says of messages with the word “them?” that they are no questions to the bot."""

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], bill: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        return None if "them?" in text else await self.rewrite_query(text, history, bill, today=today, asker=asker)


@dataclass
class Thread:
    """A thread in which Bob asked and the bot answered. `seen`: replies, private messages and posts since then."""

    fixture: BotFixture
    bot: Bot
    place: Location

    async def post(self, text: str, *, addressed: bool = False) -> Message:
        """Bob posts there, and the bot has handled it."""
        message = self.fixture.platform.add_message(self.place, "bob", text)
        await self.bot.receive(MessageReceived(message, addressed), message.id)
        await self.bot.event_queue.wait_until_idle()
        return message

    @property
    def shown(self) -> int:
        """How much the bot showed since the first answer."""
        platform = self.fixture.platform
        return len(platform.replies) - 1 + len(platform.private_messages) + len(platform.posts) - 1

    async def indexed(self, message: Message) -> bool:
        known = await self.fixture.store.messages.get(message.location.room, message.id)
        return known is not None and bool(known.document)


@pytest.fixture
async def thread(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Thread]:
    async with (
        open_bot(tmp_path, language=DecidingLanguage(), llm_model=getattr(request, "param", "")) as fixture,
        fixture.run_bot() as bot,
    ):
        roof = await fixture.join("ROOF", "ada", "bob")
        await fixture.post_indexed(roof, "ada", "The Tiles come on Monday.")
        here = Thread(fixture, bot, roof)
        question = await here.post("When do the Tiles come?", addressed=True)
        assert fixture.last_reply.closing is not None
        assert here.shown == 0
        yield replace(here, place=replace(roof, thread=question.id))


async def test_a_question_is_answered_in_the_thread_and_not_indexed(thread: Thread) -> None:
    message = await thread.post("And who brings the Tiles?")
    assert thread.fixture.last_reply.target.message == message.id
    assert "Tiles" in thread.fixture.last_reply.text
    assert not await thread.indexed(message)


@pytest.mark.parametrize("text", ["thanks!", "who cares", "@ada can you call them?", "I call them."])
async def test_anything_else_is_indexed_without_a_reaction(thread: Thread, text: str) -> None:
    message = await thread.post(text)
    assert thread.shown == 0
    assert await thread.indexed(message)
    assert message.id not in thread.fixture.platform.reactions


@pytest.mark.parametrize(
    "reply",
    [NOTHING_FOUND, f"{CLOSEST}\n“Tiles.” [1]", "The sources say nothing of that.", RuntimeError("out of reach")],
    ids=str,
)
async def test_nothing_found_and_failures_are_never_shown(thread: Thread, reply: str | Exception) -> None:
    language, store = thread.fixture.language, thread.fixture.store
    language.reply, prompts = (reply,), len(language.prompts)
    message = await thread.post("Who painted the Tiles?")
    assert len(language.prompts) == prompts + 1
    assert thread.shown == 0
    assert await store.answers.get_by_message(thread.place.without_thread, message.id) is None
    assert await thread.indexed(message)


async def test_nor_is_it_where_there_is_nothing_to_answer_from(thread: Thread) -> None:
    await thread.fixture.delete(thread.fixture.platform.messages[0])
    await thread.post("Who painted it?")
    assert thread.shown == 0


async def test_an_answer_that_broke_off_says_so(thread: Thread) -> None:
    thread.fixture.language.reply = ("On Monday [1], ", RuntimeError("out of reach"))
    await thread.post("And who brings the Tiles?")
    assert texts.BROKEN_OFF in thread.fixture.last_reply.text


@pytest.mark.parametrize("thread", ["openai/some"], indirect=True)
async def test_a_model_may_decide_that_a_message_is_not_for_it(thread: Thread) -> None:
    prompts = len(thread.fixture.language.prompts)
    message = await thread.post("Is it worth calling them?")
    assert thread.shown == 0
    assert len(thread.fixture.language.prompts) == prompts
    assert await thread.indexed(message)
    await thread.post("the Tiles, by whom")
    assert thread.shown == 1


async def test_thanks_that_mention_the_bot_get_a_reaction_only(thread: Thread) -> None:
    message = await thread.post("<@BOT> thanks a lot!", addressed=True)
    assert thread.shown == 0
    assert thread.fixture.platform.reactions[message.id] == ["done"]
