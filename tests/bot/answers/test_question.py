"""A question as the engine is asked it: its words, its scope, the channel's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.answers.question import put
from bot.answers.request import Request, heard
from bot.errors import PlatformError
from bot.platform.models import Place
from bot.store import ChannelSettings
from engine.models import Within
from tests.support.asking import Asking, asking
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HALL = Place("slack", "T1", "HALL")
REQUEST = Request("a1", HALL, "ada", "<@BOT> does <@bob> know?", START)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home", mode="hybrid") as opened:
        opened.platform.open("HALL", "ada", "bob")
        yield opened


async def test_names_stand_in_place_of_ids(home: Asking) -> None:
    assert (await put(home.house, REQUEST)).text == "does @Bob know?"


async def test_if_nobody_tells_them_the_ids_do(home: Asking) -> None:
    home.platform.failing["readable"] = PlatformError("Down.")
    assert (await put(home.house, REQUEST)).text == "does <@bob> know?"


async def test_a_model_is_told_who_asks(home: Asking) -> None:
    assert (await put(home.house, replace(REQUEST, person="bob"))).asker == "Bob"
    home.platform.failing["readable"] = PlatformError("Down.")
    assert (await put(home.house, REQUEST)).asker == ""


async def test_it_may_draw_on_what_all_readers_may_read(home: Asking) -> None:
    assert (await put(home.house, REQUEST)).scope == await home.house.readers.scope_here(HALL)


async def test_a_private_one_on_what_the_asker_may(home: Asking) -> None:
    asked = await put(home.house, replace(REQUEST, private=True))
    assert asked.scope == await home.house.readers.scope_alone(HALL, "ada")


async def test_the_mode_is_that_of_the_question_the_channel_or_the_bot(home: Asking) -> None:
    assert (await put(home.house, REQUEST)).mode == "hybrid"
    await home.house.store.channels.put(HALL.room, ChannelSettings(mode="naive"))
    assert (await put(home.house, REQUEST)).mode == "naive"
    assert (await put(home.house, replace(REQUEST, mode="local"))).mode == "local"


async def test_style_and_language_are_the_channel_s(home: Asking) -> None:
    await home.house.store.channels.put(HALL.room, ChannelSettings(style="a haiku", language="Finnish"))
    asked = await put(home.house, REQUEST)
    assert (asked.style, asked.instructions) == ("a haiku", "Answer in Finnish.")


async def test_what_was_missed_is_asked_of_this_room_since_then(home: Asking) -> None:
    asked = await put(home.house, replace(REQUEST, since=START))
    assert asked.within == Within(rooms=frozenset({HALL.room}), since=START)


async def test_a_channel_that_is_mentioned_is_what_the_overview_is_of(home: Asking) -> None:
    home.platform.open("ROOF", "ada", "bob")
    asked = await put(home.house, replace(REQUEST, text="<@BOT> Summarise <#ROOF>"))
    assert asked.overview is not None
    assert asked.within.rooms == {"slack:T1:ROOF"}
    assert (await put(home.house, replace(REQUEST, text="<@BOT> Summarise #somewhere"))).overview is None


async def put_text(home: Asking, text: str, *, thread: str = "", place: Place = HALL) -> Within:
    request = replace(REQUEST, text=text, place=replace(place, thread=thread), message="m9")
    question = await put(home.house, request)
    assert question.overview is not None
    return question.within


async def test_an_overview_is_of_what_the_question_names(home: Asking) -> None:
    room, thread = frozenset({HALL.room}), frozenset({f"{HALL.room}:thread:m1"})
    assert await put_text(home, "Summarise this channel") == Within(rooms=room)
    assert await put_text(home, "Summarise this channel", thread="m1") == Within(rooms=room)
    assert await put_text(home, "Summarise this thread", thread="m1") == Within(documents=thread)
    assert await put_text(home, "tldr", thread="m1") == Within(documents=thread)
    assert await put_text(home, "tldr", thread="m9") == Within(rooms=room)  # the thread that it begins
    assert await put_text(home, "What was decided lately?") == Within()
    assert await put_text(home, "What is new everywhere?") == Within()
    monday = await put_text(home, "What happened since Monday?")
    assert (monday.rooms, monday.since is not None) == (room, True)


async def test_in_a_conversation_with_the_bot_it_is_of_all_that_may_be_read(home: Asking) -> None:
    talk = home.platform.open("TALK", "ada", kind="direct")
    assert await put_text(home, "What happened this week?", place=talk) != Within()
    assert (await put_text(home, "What happened this week?", place=talk)).rooms == frozenset()


async def test_what_somebody_missed_came_after_their_last_word_there(home: Asking) -> None:
    hall = await home.joined("HALL", "ada", "bob")
    said = await home.say(hall, "ada", "Good night.")
    await home.say(hall, "bob", "The Tiles came.")
    asked = await home.hear(home.platform.say(hall, "ada", "<@BOT> What did I miss?"), addressed=True)
    question = await put(home.house, heard(asked))
    assert question.within == Within(rooms=frozenset({hall.room}), since=said.time)


async def test_a_question_with_a_subject_is_no_overview(home: Asking) -> None:
    assert (await put(home.house, replace(REQUEST, text="What was decided about the roof?"))).overview is None
