from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from pydantic import TypeAdapter

from bot.answers.service import AnswerService
from bot.commands.table import run_command
from bot.monitoring import Metrics
from bot.permissions.quotas import Quotas
from bot.platform.events import CommandInvoked
from bot.settings import load_settings
from bot.text.sanitize import sanitize_inline
from engine.errors import InvalidQuestion
from tests.bot.commands.conftest import NOW

if TYPE_CHECKING:
    from tests.bot.commands.conftest import Workspace

WORD = re.compile(r"\w+")


async def test_what_was_missed_is_a_private_question_about_this_channel_since_that_time(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    assert await workspace.maybe("bob", "catch-up 3 days") is None
    [asked] = workspace.answer_service.asked
    assert (asked.since, asked.private, asked.handle) == (NOW - timedelta(days=3), True, "h")
    assert (asked.location, asked.person) == (workspace.square, "bob")
    assert "since 2026-11-19 10:00 UTC" in asked.text


async def test_without_a_time_it_is_what_came_after_ones_own_last_word(workspace: Workspace) -> None:
    await workspace.say("bob", "Bye.", workspace.square)
    last = await workspace.say("bob", "Good night.")
    await workspace.say("ada", "The roof leaks.")
    await workspace.say("bob", "Elsewhere.", workspace.attic)
    await workspace.maybe("bob", "catch-up")
    [asked] = workspace.answer_service.asked
    assert asked.since == last.time


async def test_where_nothing_was_said_nothing_is_asked(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    card = await workspace.command("bob", "catch-up 1h")
    assert "I have read no messages here since 2026-11-22 09:00 UTC" in card.text
    assert workspace.answer_service.asked == []


async def test_the_same_command_is_the_same_question(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    await workspace.maybe("bob", "catch-up 3 days")
    await workspace.maybe("bob", "catch-up 3 days")
    assert len({asked.id for asked in workspace.answer_service.asked}) == 1


async def test_a_time_that_is_none_is_told(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion):
        await workspace.command("bob", "catch-up the boat")


async def test_it_is_still_the_same_question_after_a_restart(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    given = NOW - timedelta(hours=5)
    kept = TypeAdapter(CommandInvoked).dump_json(
        CommandInvoked("c1", workspace.square, "bob", "catch-up", "3 days", time=given)
    )
    for _ in range(2):
        await run_command(workspace, TypeAdapter(CommandInvoked).validate_json(kept))  # type: ignore[arg-type]
    first, second = workspace.answer_service.asked
    assert (first.time, first.since) == (given, given - timedelta(days=3))
    assert second == first


async def test_one_that_was_kept_without_its_time_is_of_now(workspace: Workspace) -> None:
    await workspace.say("ada", "The roof leaks.")
    kept = TypeAdapter(CommandInvoked).dump_python(
        CommandInvoked("c1", workspace.square, "bob", "catch-up", "9000 days")
    )
    del kept["time"], kept["message"]
    before = datetime.now(UTC)
    await run_command(workspace, TypeAdapter(CommandInvoked).validate_python(kept))  # type: ignore[arg-type]
    [asked] = workspace.answer_service.asked
    assert before <= asked.time <= datetime.now(UTC)


async def test_the_answer_draws_on_this_channel_since_that_time_alone(workspace: Workspace) -> None:
    before = await workspace.say("ada", "Mina painted a boat.")
    await workspace.say("ada", "Otto painted a boat.", workspace.attic)
    workspace.platform.add_channel("YARD", "ada", "bob")
    await workspace.say("ada", "Carla painted a boat.", workspace.platform.place("YARD"))
    await workspace.say("ada", "Dora baked seventeen cakes.")
    guards = Quotas(workspace.context.store, 10, 0)
    answering = AnswerService(workspace.context, guards, workspace.ingest_service.files, Metrics())
    workspace.answer_service.answer = answering.answer  # type: ignore[assignment,method-assign]
    since = (before.time + timedelta(seconds=1)).isoformat()
    await workspace.maybe("bob", f"catch-up {since}")
    [reply] = workspace.platform.replies
    assert reply.target.private
    assert "Dora" in reply.text
    assert not {"Mina", "Otto", "Carla"} & set(WORD.findall(reply.text))


async def test_without_a_model_the_messages_themselves_are_shown_the_newest_last(workspace: Workspace) -> None:
    workspace.context = replace(workspace.context, settings=load_settings(data_dir=workspace.context.settings.data_dir))
    await workspace.say("ada", "The roof leaks.")
    await workspace.say("bob", "I will look after it @channel.")
    await workspace.say("ada", "Elsewhere.", workspace.attic)
    card = await workspace.command("eve", "catch-up 3 days")
    first, *said = card.text.splitlines()
    assert said[0].startswith("- [Ada, 2026-11-20 10:01 UTC](https://")
    assert "since 2026-11-19 10:00 UTC" in first
    assert [each.rpartition(": ")[2] for each in said] == [
        "The roof leaks.",
        sanitize_inline("I will look after it @channel."),
    ]
    assert workspace.answer_service.asked == []


async def test_names_in_it_are_text(workspace: Workspace) -> None:
    workspace.context = replace(workspace.context, settings=load_settings(data_dir=workspace.context.settings.data_dir))
    workspace.platform.people["ada"] = replace(
        workspace.platform.people["ada"], name="[Ada](https://evil.example) <!here>"
    )
    await workspace.say("ada", "The roof leaks.")
    card = await workspace.command("eve", "catch-up 3 days")
    assert "The roof leaks." in card.text
    assert not any(bad in card.text for bad in ("[Ada](", "https://evil", "<!here>"))
