"""Managers are told once, in a direct message, that texts wait for what a person must do, or that people went."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from bot.errors import PermissionDenied
from bot.ingest.sync.manager_notices import ManagerNotices, ModelNotices, PeopleNotices, PermissionNotices
from bot.platform.models import Person
from engine import Extraction, Mention
from engine.errors import BadModelSettings, DatabaseLost, EngineError, ModelUnreachable, OutOfCredit
from engine.ingest.rereading import remove_people
from engine.usage import SpentBudget
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.fake_platform import START
from tests.support.steps import run_steps, say

pytestmark = pytest.mark.usefixtures("roof")
WORKSPACE = f"{ROOF.platform}:{ROOF.workspace}"


async def tell(bot: BotFixture, times: int = 2) -> list[str]:
    """What Ada, who manages the workspace, is told in direct messages."""
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await run_steps(bot, [say("ada", "The mill is open.")])
    for _ in range(times):
        await ModelNotices(bot.context, ManagerNotices(bot.context)).tell(START)
    return [card.text for place, card in bot.platform.posts if place.channel == "Dada"]


@pytest.mark.parametrize(
    ("error", "words"),
    [(OutOfCredit("402"), "credit"), (BadModelSettings("no such effort"), "settings"), (ModelUnreachable("away"), "")],
)
async def test_an_error_on_which_a_person_must_act_is_told_once(
    bot: BotFixture, error: EngineError, words: str
) -> None:
    bot.engine._worker.block(error)
    told = await tell(bot)
    assert len(told) == bool(words)
    assert all("wait for my language model" in text and words in text for text in told)


async def test_a_notice_that_could_not_be_told_is_told_later(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    bot.engine._worker.block(OutOfCredit("402"))
    with monkeypatch.context() as broken:
        broken.setattr(ManagerNotices, "_tell_workspace", fail)
        with pytest.raises(DatabaseLost):
            await tell(bot)
    assert len(await tell(bot)) == 1


async def fail(*_: object) -> int:
    raise DatabaseLost("The connection was lost.")


@pytest.mark.parametrize(("workspace", "count"), [(WORKSPACE, 1), (f"{ROOF.platform}:other", 0)])
async def test_a_budget_that_is_used_up_is_told_once_in_its_workspace(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch, workspace: str, count: int
) -> None:
    spent = SpentBudget(workspace, "day", "1,000 tokens", date(2026, 3, 6))
    monkeypatch.setattr(bot.engine.maintenance._runtime.indexing_budget, "_spent", {workspace: spent})
    told = await tell(bot)
    assert len(told) == count
    assert all("used up what may be spent on indexing" in text for text in told)


async def tell_of_permissions(bot: BotFixture) -> list[str]:
    """What Ada is told of what was refused."""
    await PermissionNotices(bot.context, ManagerNotices(bot.context)).tell()
    return [card.text for place, card in bot.platform.posts if place.channel == "Dada"]


async def test_a_permission_that_is_missing_is_told_once_with_its_channel(bot: BotFixture) -> None:
    refusal = PermissionDenied("Discord does not allow to react (403).", permissions=["Add Reactions"])
    bot.context.denials.note(refusal, ROOF)
    assert await tell_of_permissions(bot) == [], "nobody who manages the workspace has written"
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    bot.platform.failing["reaction"] = refusal
    await run_steps(bot, [say("ada", "The mill is open.")])
    for _ in range(2):
        told = await tell_of_permissions(bot)
        bot.context.denials.note(refusal, ROOF)
    assert told == [
        "I can't do all of my work in #roof: I need the permission “Add Reactions”. An admin can give it to me."
    ]


async def test_a_permission_that_a_workspace_lacks_is_told_without_a_channel(bot: BotFixture) -> None:
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await run_steps(bot, [say("ada", "The mill is open.")])
    bot.context.denials.add(replace(ROOF, channel=""), ["files:read", "channels:read"])
    [told] = await tell_of_permissions(bot)
    assert "in this workspace: I need the permission “channels:read” and “files:read”" in told


async def test_a_manager_who_cannot_read_a_channel_is_not_told_its_name(bot: BotFixture) -> None:
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await run_steps(bot, [say("ada", "The mill is open.")])
    closed = bot.platform.add_channel("MERGER", "bob", kind="closed")
    await bot.post(closed, "bob", "The mill is sold.")
    bot.context.denials.add(closed, ["Add Reactions"])
    [told] = await tell_of_permissions(bot)
    assert "in a channel: I need the permission" in told
    assert "merger" not in told.lower()


async def test_what_no_manager_could_be_told_is_told_after_a_restart(bot: BotFixture) -> None:
    bot.context.denials.add(ROOF, ["Add Reactions"])
    assert await tell_of_permissions(bot) == []
    bot.context.denials.take()  # what a process that ends forgets
    bot.platform.people["ada"] = Person("ada", "Ada", is_manager=True)
    await run_steps(bot, [say("ada", "The mill is open.")])
    [told] = await tell_of_permissions(bot)
    assert "“Add Reactions”" in told
    assert await bot.context.store.hints.list_named(ROOF.platform, "untold: ") == []


async def tell_of_people(bot: BotFixture, *prefixes: str) -> list[str]:
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


async def test_managers_are_told_once_that_facts_about_people_went(bot: BotFixture) -> None:
    told = await tell_of_people(bot, "slack:")
    assert len(told) == 1
    assert "about people is removed" in told[0]


async def test_managers_of_other_places_are_told_nothing(bot: BotFixture) -> None:
    assert await tell_of_people(bot, "other:") == []
