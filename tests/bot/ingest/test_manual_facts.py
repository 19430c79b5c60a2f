"""Statements: taken in where what is written is read, kept where exactly their readers find them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.platform.events import ChannelRemoved
from engine.errors import InvalidQuestion
from engine.models import Extraction, Mention
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location
    from tests.support.bot_fixture import BotFixture

BEES = Extraction(mentions=(Mention("Mina", "person", "Mina keeps bees."),))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home") as opened:
        yield opened


async def state(home: BotFixture, place: Location) -> str:
    return await home.ingest_service.manual_facts.add_fact(place, "ada", BEES, START)


async def spaces(home: BotFixture, place: Location) -> list[str]:
    return [each.space for each in await home.list_documents(place)]


async def test_a_statement_moves_with_the_readers_of_its_channel(home: BotFixture) -> None:
    hall = await home.join_channel("HALL", "ada")
    await state(home, hall)
    assert await spaces(home, hall) == ["slack:T1:open"]
    home.platform.change_channel("HALL", kind="closed")
    await home.ingest_service.start_reconciliation("slack")
    assert await spaces(home, hall) == [hall.room]


async def test_nothing_is_stated_where_the_bot_is_not(home: BotFixture) -> None:
    hall = home.platform.add_channel("HALL", "ada")
    with pytest.raises(InvalidQuestion, match=texts.CHANNEL_NOT_INDEXED):
        await state(home, hall)
    assert await home.list_documents(hall) == []


async def test_nor_where_it_is_put_out_meanwhile(home: BotFixture) -> None:
    hall = await home.join_channel("HALL", "ada")
    leaving = asyncio.create_task(home.ingest_service.handle(ChannelRemoved(hall)))
    await asyncio.sleep(0)  # it holds the room
    with pytest.raises(InvalidQuestion, match=texts.CHANNEL_NOT_INDEXED):
        await state(home, hall)
    await leaving
    assert await home.list_documents(hall) == []


async def test_alone_with_the_bot_one_states_something_for_oneself(home: BotFixture) -> None:
    direct = home.platform.add_channel("D1", "ada", kind="direct")
    await state(home, direct)
    assert await spaces(home, direct) == ["slack:T1:dm:ada"]


async def test_a_statement_is_forgotten_with_who_made_it_and_he_makes_no_further_one(home: BotFixture) -> None:
    hall = await home.join_channel("HALL", "ada")
    await state(home, hall)
    await home.ingest_service.forget_person("slack", "T1", "ada")
    with pytest.raises(InvalidQuestion, match="remember-me"):
        await state(home, hall)
    assert await home.list_documents(hall) == []
