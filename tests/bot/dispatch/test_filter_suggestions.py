"""Completed filters name only channels and people that the person who types may read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.dispatch.filter_suggestions import MAX_SUGGESTIONS, FilterSuggestions
from bot.errors import PlatformError
from bot.permissions.audience import ResolvedScope
from tests.bot.commands.conftest import ATTIC, NOW, Workspace, workspace
from tests.support.builders import ROOF
from tests.support.clock import ManualClock

__all__ = ["workspace"]


@pytest.fixture(autouse=True)
async def _messages(workspace: Workspace) -> None:
    await workspace.post("bob", "Mina sells tickets.")
    await workspace.post("ada", "The vault is in the attic.", ATTIC)
    await workspace.post("cid", "I have the key.", ATTIC)


async def suggest(workspace: Workspace, person: str, name: str, typed: str) -> list[str]:
    context = replace(workspace.context, clock=ManualClock(NOW))
    found = await FilterSuggestions(context).suggest(person, ROOF, name, typed)
    return [each.label for each in found]


async def test_hidden_channels_and_people_stay_unknown(workspace: Workspace) -> None:
    assert await suggest(workspace, "ada", "in", "") == ["#attic", "#roof"]
    assert await suggest(workspace, "ada", "from", "") == ["Ada", "Bob", "Cid"]
    for person in ("bob", "eve"):
        assert await suggest(workspace, person, "in", "") == ["#roof"]
        assert await suggest(workspace, person, "in", "att") == []
        assert await suggest(workspace, person, "from", "") == ["Bob"]
        assert await suggest(workspace, person, "from", "ci") == []
    for name in ("in", "from"):
        assert await suggest(workspace, "gus", name, "") == []  # a guest who is in no channel


async def test_a_channel_is_given_by_its_id(workspace: Workspace) -> None:
    [found] = await FilterSuggestions(workspace.context).suggest("bob", ROOF, "in", "#Ro")
    assert (found.label, found.value) == ("#roof", "<#ROOF>")


async def test_a_failed_look_up_suggests_nothing(workspace: Workspace) -> None:
    workspace.platform.failing |= {"channel": PlatformError("busy"), "person": PlatformError("busy")}
    workspace.context.audience.invalidate(ROOF)
    workspace.context.audience.invalidate(ATTIC)
    for name in ("in", "from"):
        assert "attic" not in "".join(await suggest(workspace, "ada", name, ""))
        assert await suggest(workspace, "bob", "from", "c") == []


async def test_times_need_no_look_up(workspace: Workspace) -> None:
    assert "2026-11" in await suggest(workspace, "gus", "after", "2026-1")


async def test_a_channel_that_was_closed_is_unknown_at_the_next_key(workspace: Workspace) -> None:
    suggestions = FilterSuggestions(workspace.context)
    assert [each.label for each in await suggestions.suggest("ada", ROOF, "in", "att")] == ["#attic"]
    workspace.platform.change_channel("ATTIC", members=frozenset({"cid"}))
    workspace.context.audience.invalidate(ATTIC)
    assert await suggestions.suggest("ada", ROOF, "in", "at") == []


async def test_one_look_at_what_a_person_may_read_serves_all_channels(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve, looks = workspace.context.audience.resolve_scope, list[str]()

    async def count(*arguments: Any) -> ResolvedScope:
        looks.append("look")
        return await resolve(*arguments)

    for number in range(40):
        await workspace.context.store.channels.upsert(workspace.platform.add_channel(f"SHED{number}"), f"shed-{number}")
    monkeypatch.setattr(workspace.context.audience, "resolve_scope", count)
    assert len(await suggest(workspace, "bob", "in", "shed")) == MAX_SUGGESTIONS
    assert len(looks) == 1
