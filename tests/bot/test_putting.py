"""A question as the engine is asked it: its words, its scope, the channel's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.asked import Request
from bot.chat import Place
from bot.errors import PlatformError
from bot.putting import put
from bot.store import ChannelSettings
from engine.records import Within
from tests.bot.asking import Asking, asking
from tests.fakes.platform import START

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
