"""Statements: taken in where what is written is read, kept where exactly their readers find them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.platform.events import Gone
from engine.errors import BadQuestion
from engine.models import Mention, Reading
from tests.support.fake_platform import START
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Place
    from tests.support.household import Household

BEES = Reading(mentions=(Mention("Mina", "person", "Mina keeps bees."),))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home") as opened:
        yield opened


async def state(home: Household, place: Place) -> str:
    return await home.listening.stating.state(place, "ada", BEES, START)


async def spaces(home: Household, place: Place) -> list[str]:
    return [each.space for each in await home.documents(place)]


async def test_a_statement_moves_with_the_readers_of_its_channel(home: Household) -> None:
    hall = await home.joined("HALL", "ada")
    await state(home, hall)
    assert await spaces(home, hall) == ["slack:T1:open"]
    home.platform.change("HALL", kind="closed")
    await home.listening.catch_up("slack")
    assert await spaces(home, hall) == [hall.room]


async def test_nothing_is_stated_where_the_bot_is_not(home: Household) -> None:
    hall = home.platform.open("HALL", "ada")
    with pytest.raises(BadQuestion, match=texts.UNREAD):
        await state(home, hall)
    assert await home.documents(hall) == []


async def test_nor_where_it_is_put_out_meanwhile(home: Household) -> None:
    hall = await home.joined("HALL", "ada")
    leaving = asyncio.create_task(home.listening.take(Gone(hall)))
    await asyncio.sleep(0)  # it holds the room
    with pytest.raises(BadQuestion, match=texts.UNREAD):
        await state(home, hall)
    await leaving
    assert await home.documents(hall) == []


async def test_alone_with_the_bot_one_states_something_for_oneself(home: Household) -> None:
    direct = home.platform.open("D1", "ada", kind="direct")
    await state(home, direct)
    assert await spaces(home, direct) == ["slack:T1:dm:ada"]


async def test_a_statement_is_forgotten_with_who_made_it_and_he_makes_no_further_one(home: Household) -> None:
    hall = await home.joined("HALL", "ada")
    await state(home, hall)
    await home.listening.forget_person("slack", "T1", "ada")
    with pytest.raises(BadQuestion, match="remember-me"):
        await state(home, hall)
    assert await home.documents(hall) == []
