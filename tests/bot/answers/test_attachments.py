"""Files that come with a question: taken in beside its answer, waited for, and spoken of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.attachments import Attachments
from bot.answers.request import request_from_message
from bot.errors import PlatformError
from tests.support.answering_fixture import AnsweringFixture, open_answering_bot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location, Message


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def hall(home: AnsweringFixture) -> Location:
    return await home.join_channel("HALL", "ada")


@pytest.fixture
def message(home: AnsweringFixture, hall: Location) -> Message:
    """A question with one file."""
    upload = home.platform.add_file("notes.txt", b"The Nails come on Friday.")
    return home.platform.add_message(hall, "ada", "<@BOT> When?", uploads=(upload,))


def key(message: Message) -> str:
    """The document that its file becomes."""
    [upload] = message.uploads
    return f"{message.location.room}:file:{message.id}:{upload.id}"


def enclosed(home: AnsweringFixture, message: Message, limit: float = 20.0) -> Attachments:
    return Attachments(request_from_message(message), home.ingest_service.files, limit)


async def test_they_are_documents_once_they_are_ready(home: AnsweringFixture, message: Message) -> None:
    notes: list[str] = []
    async with enclosed(home, message) as files:
        assert await files.wait_for_documents(notes) == {key(message)}
    assert notes == []


async def test_a_question_without_files_has_none(home: AnsweringFixture, hall: Location) -> None:
    async with enclosed(home, home.platform.add_message(hall, "ada", "<@BOT> When?")) as files:
        assert await files.wait_for_documents([]) == frozenset()


async def test_leaving_waits_until_they_are_taken_in(home: AnsweringFixture, message: Message) -> None:
    async with enclosed(home, message):
        pass
    [listed] = await home.list_documents(message.location)
    assert listed.title == "notes.txt"
    assert home.platform.reactions[message.id] == ["working", "done"]


async def test_one_that_cannot_be_read_is_spoken_of(home: AnsweringFixture, hall: Location) -> None:
    upload = home.platform.add_file("@here.mp3", b"la la", kind="audio/mpeg")
    notes: list[str] = []
    async with enclosed(home, home.platform.add_message(hall, "ada", "<@BOT> When?", uploads=(upload,))) as files:
        assert await files.wait_for_documents(notes) == frozenset()
    [note] = notes
    assert "here.mp3: It is sound." in note
    assert "@here" not in note


async def test_one_that_cannot_be_had_now_costs_no_answer_and_is_tried_again(
    home: AnsweringFixture, message: Message
) -> None:
    home.platform.failing["fetch"] = PlatformError("Down.")
    notes: list[str] = []
    with pytest.raises(PlatformError):
        async with enclosed(home, message) as files:
            assert await files.wait_for_documents(notes) == frozenset()
    assert notes == [texts.FILE_NOT_READ]
    del home.platform.failing["fetch"]
    async with enclosed(home, message) as files:
        assert await files.wait_for_documents([]) == {key(message)}


async def test_nobody_waits_longer_than_the_limit(home: AnsweringFixture, message: Message) -> None:
    notes: list[str] = []
    async with enclosed(home, message, limit=0.0) as files:
        assert await files.wait_for_documents(notes) == frozenset()
    assert notes == [texts.FILE_NOT_READY]


async def test_after_a_restart_they_are_those_that_were_taken_in(home: AnsweringFixture, message: Message) -> None:
    await home.ingest_service.files.ingest(message, asked=True)
    async with enclosed(home, message) as files:
        assert await files.wait_for_documents([]) == {key(message)}
    assert len(await home.list_documents(message.location)) == 1


async def test_what_is_cut_off_takes_nothing_in_behind_one_s_back(home: AnsweringFixture, message: Message) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with enclosed(home, message):
            raise asyncio.CancelledError
    await home.wait_until_indexed()
    assert await home.list_documents(message.location) == []
