"""Managers are told once that facts about people were removed where these are no entities any more."""

from __future__ import annotations

import pytest

from bot.ingest.sync.manager_notices import ManagerNotices, PeopleNotices
from bot.platform.models import Person
from engine import Extraction, Mention
from engine.ingest.people_removal import remove_people
from tests.support.bot_fixture import BotFixture
from tests.support.steps import run_steps, say

pytestmark = pytest.mark.usefixtures("roof")


async def tell(bot: BotFixture, *prefixes: str) -> list[str]:
    """What Ada, who manages the workspace, is told after people became no entities in these spaces."""
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await run_steps(bot, [say("ada", "The mill is open.")])
    facts = Extraction((Mention("Bob", "person", "He opens it."), Mention("Mill", "place", "It is open.")))
    await bot.engine.corrections.add_facts("slack:T1:open", "", facts)
    await bot.engine.wait_until_indexed()
    await bot.engine._ledger.removed_people.begin(prefixes)
    await remove_people(bot.engine._runtime, bot.engine._worker.wake)
    for _ in range(2):
        await PeopleNotices(bot.context, ManagerNotices(bot.context)).tell()
    return [card.text for place, card in bot.platform.posts if place.channel == "Dada"]


async def test_managers_are_told_once(bot: BotFixture) -> None:
    told = await tell(bot, "slack:")
    assert len(told) == 1
    assert "about people is removed" in told[0]


async def test_managers_of_other_places_are_told_nothing(bot: BotFixture) -> None:
    assert await tell(bot, "other:") == []
