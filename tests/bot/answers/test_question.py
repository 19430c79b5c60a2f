"""A question as the engine is asked it: its words, its scope, the channel's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.answers.question import build_question
from bot.answers.request import AnswerRequest, request_from_message
from bot.errors import PlatformError
from bot.platform.models import Location
from bot.store import ChannelSettings
from engine.models import Filters
from tests.support.answering_fixture import AnsweringFixture, open_answering_bot
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HALL = Location("slack", "T1", "HALL")
REQUEST = AnswerRequest("a1", HALL, "ada", "<@BOT> does <@bob> know?", START)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home", retrieval_mode="hybrid") as opened:
        opened.platform.add_channel("HALL", "ada", "bob")
        yield opened


async def test_names_stand_in_place_of_ids(home: AnsweringFixture) -> None:
    assert (await build_question(home.context, REQUEST)).text == "does @Bob know?"


async def test_if_nobody_tells_them_the_ids_do(home: AnsweringFixture) -> None:
    home.platform.failing["readable"] = PlatformError("Down.")
    assert (await build_question(home.context, REQUEST)).text == "does <@bob> know?"


async def test_a_model_is_told_who_asks(home: AnsweringFixture) -> None:
    assert (await build_question(home.context, replace(REQUEST, person="bob"))).asker == "Bob"
    home.platform.failing["readable"] = PlatformError("Down.")
    assert (await build_question(home.context, REQUEST)).asker == ""


async def test_it_may_draw_on_what_all_readers_may_read(home: AnsweringFixture) -> None:
    assert (await build_question(home.context, REQUEST)).scope == await home.context.audience.scope_for_channel(HALL)


async def test_a_private_one_on_what_the_asker_may(home: AnsweringFixture) -> None:
    asked = await build_question(home.context, replace(REQUEST, private=True))
    assert asked.scope == await home.context.audience.scope_for_person(HALL, "ada")


async def test_the_mode_is_that_of_the_question_the_channel_or_the_bot(home: AnsweringFixture) -> None:
    assert (await build_question(home.context, REQUEST)).mode == "hybrid"
    await home.context.store.channel_settings.save(HALL.room, ChannelSettings(mode="naive"))
    assert (await build_question(home.context, REQUEST)).mode == "naive"
    assert (await build_question(home.context, replace(REQUEST, mode="local"))).mode == "local"


async def test_style_and_language_are_the_channel_s(home: AnsweringFixture) -> None:
    await home.context.store.channel_settings.save(HALL.room, ChannelSettings(style="a haiku", language="Finnish"))
    asked = await build_question(home.context, REQUEST)
    assert (asked.style, asked.instructions) == ("a haiku", "Answer in Finnish.")


async def test_what_was_missed_is_asked_of_this_room_since_then(home: AnsweringFixture) -> None:
    asked = await build_question(home.context, replace(REQUEST, since=START))
    assert asked.filters == Filters(rooms=frozenset({HALL.room}), since=START)


async def test_a_channel_that_is_mentioned_is_what_the_overview_is_of(home: AnsweringFixture) -> None:
    home.platform.add_channel("ROOF", "ada", "bob")
    asked = await build_question(home.context, replace(REQUEST, text="<@BOT> Summarise <#ROOF>"))
    assert asked.overview is not None
    assert asked.filters.rooms == {"slack:T1:ROOF"}
    assert (await build_question(home.context, replace(REQUEST, text="<@BOT> Summarise #somewhere"))).overview is None


async def put_text(home: AnsweringFixture, text: str, *, thread: str = "", place: Location = HALL) -> Filters:
    request = replace(REQUEST, text=text, location=replace(place, thread=thread), message="m9")
    question = await build_question(home.context, request)
    assert question.overview is not None
    return question.filters


async def test_an_overview_is_of_what_the_question_names(home: AnsweringFixture) -> None:
    room, thread = frozenset({HALL.room}), frozenset({f"{HALL.room}:thread:m1"})
    assert await put_text(home, "Summarise this channel") == Filters(rooms=room)
    assert await put_text(home, "Summarise this channel", thread="m1") == Filters(rooms=room)
    assert await put_text(home, "Summarise this thread", thread="m1") == Filters(documents=thread)
    assert await put_text(home, "tldr", thread="m1") == Filters(documents=thread)
    assert await put_text(home, "tldr", thread="m9") == Filters(rooms=room)  # the thread that it begins
    assert await put_text(home, "What was decided lately?") == Filters()
    assert await put_text(home, "What is new everywhere?") == Filters()
    monday = await put_text(home, "What happened since Monday?")
    assert (monday.rooms, monday.since is not None) == (room, True)


async def test_in_a_conversation_with_the_bot_it_is_of_all_that_may_be_read(home: AnsweringFixture) -> None:
    talk = home.platform.add_channel("TALK", "ada", kind="direct")
    assert await put_text(home, "What happened this week?", place=talk) != Filters()
    assert (await put_text(home, "What happened this week?", place=talk)).rooms == frozenset()


async def test_what_somebody_missed_came_after_their_last_word_there(home: AnsweringFixture) -> None:
    hall = await home.join_channel("HALL", "ada", "bob")
    said = await home.post(hall, "ada", "Good night.")
    await home.post(hall, "bob", "The Tiles came.")
    asked = await home.receive(home.platform.add_message(hall, "ada", "<@BOT> What did I miss?"), addressed=True)
    question = await build_question(home.context, request_from_message(asked))
    assert question.filters == Filters(rooms=frozenset({hall.room}), since=said.time)


async def test_a_question_with_a_subject_is_no_overview(home: AnsweringFixture) -> None:
    assert (
        await build_question(home.context, replace(REQUEST, text="What was decided about the roof?"))
    ).overview is None
