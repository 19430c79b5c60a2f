"""Files that come with a question: taken in beside its answer, waited for, and spoken of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.attachments import Enclosed
from bot.answers.request import heard
from bot.errors import PlatformError
from tests.support.asking import Asking, asking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Message, Place


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def hall(home: Asking) -> Place:
    return await home.joined("HALL", "ada")


@pytest.fixture
def message(home: Asking, hall: Place) -> Message:
    """A question with one file."""
    upload = home.platform.upload("notes.txt", b"The Nails come on Friday.")
    return home.platform.say(hall, "ada", "<@BOT> When?", uploads=(upload,))


def key(message: Message) -> str:
    """The document that its file becomes."""
    [upload] = message.uploads
    return f"{message.place.room}:file:{message.id}:{upload.id}"


def enclosed(home: Asking, message: Message, limit: float = 20.0) -> Enclosed:
    return Enclosed(heard(message), home.listening.filing, limit)


async def test_they_are_documents_once_they_are_ready(home: Asking, message: Message) -> None:
    notes: list[str] = []
    async with enclosed(home, message) as files:
        assert await files.ready(notes) == {key(message)}
    assert notes == []


async def test_a_question_without_files_has_none(home: Asking, hall: Place) -> None:
    async with enclosed(home, home.platform.say(hall, "ada", "<@BOT> When?")) as files:
        assert await files.ready([]) == frozenset()


async def test_leaving_waits_until_they_are_taken_in(home: Asking, message: Message) -> None:
    async with enclosed(home, message):
        pass
    [listed] = await home.documents(message.place)
    assert listed.title == "notes.txt"
    assert home.platform.signs[message.id] == ["working", "done"]


async def test_one_that_cannot_be_read_is_spoken_of(home: Asking, hall: Place) -> None:
    upload = home.platform.upload("@here.mp3", b"la la", kind="audio/mpeg")
    notes: list[str] = []
    async with enclosed(home, home.platform.say(hall, "ada", "<@BOT> When?", uploads=(upload,))) as files:
        assert await files.ready(notes) == frozenset()
    [note] = notes
    assert "here.mp3: It is sound." in note
    assert "@here" not in note


async def test_one_that_cannot_be_had_now_costs_no_answer_and_is_tried_again(home: Asking, message: Message) -> None:
    home.platform.failing["fetch"] = PlatformError("Down.")
    notes: list[str] = []
    with pytest.raises(PlatformError):
        async with enclosed(home, message) as files:
            assert await files.ready(notes) == frozenset()
    assert notes == [texts.FILE_UNREAD]
    del home.platform.failing["fetch"]
    async with enclosed(home, message) as files:
        assert await files.ready([]) == {key(message)}


async def test_nobody_waits_longer_than_the_limit(home: Asking, message: Message) -> None:
    notes: list[str] = []
    async with enclosed(home, message, limit=0.0) as files:
        assert await files.ready(notes) == frozenset()
    assert notes == [texts.FILE_UNREADY]


async def test_after_a_restart_they_are_those_that_were_taken_in(home: Asking, message: Message) -> None:
    await home.listening.filing.take(message, asked=True)
    async with enclosed(home, message) as files:
        assert await files.ready([]) == {key(message)}
    assert len(await home.documents(message.place)) == 1


async def test_what_is_cut_off_takes_nothing_in_behind_one_s_back(home: Asking, message: Message) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with enclosed(home, message):
            raise asyncio.CancelledError
    await home.learnt()
    assert await home.documents(message.place) == []
