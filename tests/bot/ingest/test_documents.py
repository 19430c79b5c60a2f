"""Facts that people add: accepted where messages are indexed, visible to the readers of their channel."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import pytest

from bot import texts
from bot.errors import NotAllowed
from bot.ingest.documents import Poster
from bot.platform.events import ChannelRemoved
from bot.platform.models import Location
from engine.errors import InvalidQuestion
from engine.models import Extraction, Mention
from tests.support.bot_fixture import BotFixture
from tests.support.builders import HALL
from tests.support.fake_platform import START

BEES = Extraction(mentions=(Mention("Mina", "person", "Mina keeps bees."),))


async def add_fact(
    bot: BotFixture, place: Location = HALL, person: str = "bob", *, may_post: bool | None = None
) -> str:
    return await bot.ingest_service.manual_facts.add_fact(place, Poster(person, may_post), BEES, START)


async def test_a_fact_moves_with_the_readers_of_its_channel(bot: BotFixture, hall: Location) -> None:
    await add_fact(bot)
    assert await bot.spaces(hall) == ["slack:T1:open"]
    bot.platform.change_channel("HALL", kind="closed")
    await bot.ingest_service.start_reconciliation("slack")
    assert await bot.spaces(hall) == [hall.room]


@pytest.mark.parametrize(("person", "may_post"), [("ada", None), ("ada", True), ("bob", False)])
async def test_no_fact_is_accepted_of_a_person_who_may_not_post_there(
    bot: BotFixture, hall: Location, person: str, *, may_post: bool | None
) -> None:
    with pytest.raises(NotAllowed):
        await add_fact(bot, hall, person, may_post=may_post)
    assert await bot.list_documents(hall) == []


@pytest.mark.parametrize(("may_post", "documents"), [(True, 1), (None, 0)])
async def test_where_no_members_are_listed_the_platform_says_who_may_post(
    bot: BotFixture, *, may_post: bool | None, documents: int
) -> None:
    bot.platform.add_channel("HALL")
    await bot.rejoin(HALL)
    with nullcontext() if may_post else pytest.raises(NotAllowed):
        await add_fact(bot, may_post=may_post)
    assert len(await bot.list_documents(HALL)) == documents


@pytest.mark.parametrize("joined", [False, True], ids=["never joined", "removed meanwhile"])
async def test_no_fact_is_accepted_where_the_bot_is_not(bot: BotFixture, *, joined: bool) -> None:
    bot.platform.add_channel("HALL", "bob")
    async with asyncio.TaskGroup() as group:
        if joined:
            await bot.rejoin(HALL)
            group.create_task(bot.ingest_service.handle(ChannelRemoved(HALL)))
            await asyncio.sleep(0)  # the removal holds the lock of the room
        with pytest.raises(InvalidQuestion, match=texts.CHANNEL_NOT_INDEXED):
            await add_fact(bot)
    assert await bot.list_documents(HALL) == []


async def test_a_fact_in_a_direct_message_is_the_person_s_own(bot: BotFixture) -> None:
    direct = bot.platform.add_channel("D1", "ada", kind="direct")
    await add_fact(bot, direct, "ada")
    assert await bot.spaces(direct) == ["slack:T1:dm:ada"]


async def test_a_fact_is_forgotten_with_its_author_who_can_add_no_further_one(bot: BotFixture, hall: Location) -> None:
    await add_fact(bot)
    await bot.forget_person("bob")
    with pytest.raises(InvalidQuestion, match="remember-me"):
        await add_fact(bot)
    assert await bot.list_documents(hall) == []
