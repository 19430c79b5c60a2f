"""Files of a question: indexed beside its answer, waited for, and mentioned if they cannot be read."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot import texts
from bot.answers.attachments import Attachments, ReadyFiles
from bot.answers.question import request_from_message
from bot.errors import PlatformError
from bot.platform.models import Location, Message
from tests.support.bot_fixture import BotFixture


@pytest.fixture
def message(bot: BotFixture, hall: Location) -> Message:
    """A question with one file."""
    return bot.share(hall, bot.platform.add_file("notes.txt", b"The Nails come on Friday."), text="<@BOT> When?")


def attachments(bot: BotFixture, message: Message, limit: float = 20.0) -> Attachments:
    return Attachments(request_from_message(message), bot.ingest_service.files, limit, bot.clock)


async def wait(bot: BotFixture, message: Message, limit: float = 20.0) -> tuple[frozenset[str], list[str]]:
    """The documents of a question's files, and what is said of them below the answer."""
    async with attachments(bot, message, limit) as files:
        ready = await files.wait_for_documents()
        return ready.documents, list(ready.notices)


def key(message: Message) -> str:
    return f"{message.location.room}:file:{message.id}:{message.uploads[0].id}"


async def test_files_are_documents_once_they_are_ready_also_after_a_restart(bot: BotFixture, message: Message) -> None:
    for _ in range(2):
        assert await wait(bot, message) == (frozenset({key(message)}), [])
    assert len(await bot.list_documents(message.location)) == 1


async def test_a_question_without_files_has_none(bot: BotFixture, hall: Location) -> None:
    assert await wait(bot, bot.share(hall, text="<@BOT> When?")) == (frozenset(), [])


async def test_the_end_waits_until_they_are_indexed(bot: BotFixture, message: Message) -> None:
    async with attachments(bot, message):
        pass
    assert [document.title for document in await bot.list_documents(message.location)] == ["notes.txt"]
    assert bot.platform.reactions[message.id] == ["working", "done"]


async def test_why_a_file_cannot_be_read_is_told_to_its_giver_alone(bot: BotFixture, hall: Location) -> None:
    upload = bot.platform.add_file("@here.mp3", b"la la", kind="audio/mpeg")
    message = replace(bot.share(hall, upload, text="<@BOT> When?"), addressed=True)
    assert await wait(bot, message) == (frozenset(), [texts.FILE_REFUSED])
    [(target, card)] = bot.platform.private_messages
    assert (target.person, target.private) == ("ada", True)
    assert "here.mp3: I can't listen to recordings." in card.text
    assert "@here" not in card.text
    assert bot.platform.reactions[message.id] == ["working", "failed"]


async def test_a_file_that_cannot_be_fetched_now_costs_no_answer_and_is_tried_again(
    bot: BotFixture, message: Message
) -> None:
    bot.platform.failing["fetch"] = PlatformError("Down.")
    with pytest.raises(PlatformError):
        async with attachments(bot, message) as files:
            assert await files.wait_for_documents() == ReadyFiles(notices=(texts.FILE_NOT_READ,))
    bot.platform.failing.clear()
    assert await wait(bot, message) == (frozenset({key(message)}), [])


async def test_a_cancelled_question_indexes_nothing_later(bot: BotFixture, message: Message) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with attachments(bot, message):
            raise asyncio.CancelledError
    await bot.engine.wait_until_indexed()
    assert await bot.list_documents(message.location) == []
