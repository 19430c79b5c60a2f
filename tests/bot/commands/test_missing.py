from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.errors import BadQuestion
from tests.bot.commands.conftest import NOW

if TYPE_CHECKING:
    from tests.bot.commands.conftest import Workspace


async def test_what_was_missed_is_a_private_question_about_this_channel_since_that_time(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    assert await workspace.maybe("bob", "missed 3 days") is None
    [asked] = workspace.answering.asked
    assert (asked.since, asked.private, asked.handle) == (NOW - timedelta(days=3), True, "h")
    assert (asked.place, asked.person) == (workspace.square, "bob")
    assert "since 2026-11-19 10:00 UTC" in asked.text


async def test_without_a_time_it_is_what_came_after_ones_own_last_word(workspace: Workspace) -> None:
    await workspace.say("bob", "Bye.", workspace.square)
    last = await workspace.say("bob", "Good night.")
    await workspace.say("ada", "The roof leaks.")
    await workspace.say("bob", "Elsewhere.", workspace.attic)
    await workspace.maybe("bob", "missed")
    [asked] = workspace.answering.asked
    assert asked.since == last.time


async def test_where_nothing_was_said_nothing_is_asked(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    card = await workspace.command("bob", "missed 1h")
    assert "Nothing was said here since 2026-11-22 09:00 UTC" in card.text
    assert workspace.answering.asked == []


async def test_the_same_command_is_the_same_question(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    await workspace.maybe("bob", "missed 3 days")
    await workspace.maybe("bob", "missed 3 days")
    assert len({asked.id for asked in workspace.answering.asked}) == 1


async def test_a_time_that_is_none_is_told(workspace: Workspace) -> None:
    with pytest.raises(BadQuestion):
        await workspace.command("bob", "missed the boat")
