from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter

from bot.commands.table import run_command
from bot.errors import NotAllowed
from bot.platform.events import CommandInvoked
from bot.text.markdown import sanitize_inline
from engine.errors import InvalidQuestion
from engine.models import Document, Passage
from tests.bot.commands.conftest import ATTIC, NOW, RecordingAnswers, Workspace
from tests.support.builders import ROOF

EVENT = TypeAdapter(CommandInvoked)


async def test_it_is_a_private_question_about_this_channel_since_that_time(workspace: Workspace) -> None:
    await workspace.post("ada", "The roof leaks.")
    for _ in range(2):
        assert await workspace.run("bob", "catch-up 3 days") is None
    asked, again = workspace.asked
    assert (asked.since, asked.private, asked.handle) == (NOW - timedelta(days=3), True, "h")
    assert (asked.location, asked.person) == (ROOF, "bob")
    assert "since 2026-11-19 10:00 UTC" in asked.text
    assert asked.id == again.id


async def test_without_a_time_it_begins_after_the_person_s_own_last_message(workspace: Workspace) -> None:
    await workspace.post("bob", "Bye.")
    last = await workspace.post("bob", "Good night.")
    await workspace.post("ada", "The roof leaks.")
    await workspace.post("bob", "Elsewhere.", ATTIC)
    await workspace.run("bob", "catch-up")
    assert [each.since for each in workspace.asked] == [last.time]


async def test_where_nobody_posted_nothing_is_asked(workspace: Workspace) -> None:
    await workspace.post("ada", "The roof leaks.")
    assert "I have read no messages here since 2026-11-22 09:00 UTC" in await workspace.text("bob", "catch-up 1h")
    assert workspace.asked == []


async def test_somebody_who_may_not_read_the_channel_learns_no_times(workspace: Workspace) -> None:
    await workspace.post("ada", "The pump leaks.", ATTIC)
    assert "I have read no messages here" in await workspace.text("bob", "catch-up 3 days", ATTIC)
    assert "Last message" not in await workspace.text("bob", "status", ATTIC)
    assert "Last message" in await workspace.text("ada", "status", ATTIC)


async def test_what_is_no_time_is_refused(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion):
        await workspace.command("bob", "catch-up the boat")


async def test_it_is_the_same_question_after_a_restart(workspace: Workspace) -> None:
    await workspace.post("ada", "The roof leaks.")
    time = NOW - timedelta(hours=5)
    stored = EVENT.dump_json(CommandInvoked("c1", ROOF, "bob", "catch-up", "3 days", time=time))
    for _ in range(2):
        await run_command(workspace, EVENT.validate_json(stored))  # type: ignore[arg-type]
    first, second = workspace.asked
    assert (first.time, first.since) == (time, time - timedelta(days=3))
    assert second == first


async def test_one_that_was_stored_without_its_time_is_of_now(workspace: Workspace) -> None:
    await workspace.post("ada", "The roof leaks.")
    stored = EVENT.dump_python(CommandInvoked("c1", ROOF, "bob", "catch-up", "9000 days"))
    del stored["time"], stored["message"]
    before = workspace.context.clock.now()
    await run_command(workspace, EVENT.validate_python(stored))  # type: ignore[arg-type]
    [asked] = workspace.asked
    assert before <= asked.time <= workspace.context.clock.now()


async def test_the_answer_draws_on_this_channel_since_that_time_alone(workspace: Workspace) -> None:
    before = await workspace.post("ada", "Mina painted a boat.")
    await workspace.post("ada", "Otto painted a boat.", ATTIC)
    await workspace.post("ada", "Carla painted a boat.", workspace.platform.add_channel("YARD", "ada", "bob"))
    await workspace.post("ada", "Dora baked seventeen cakes.")
    workspace.answer_service = workspace.bot.answer_service
    await workspace.run("bob", f"catch-up {(before.time + timedelta(seconds=1)).isoformat()}")
    [reply] = workspace.platform.replies
    assert reply.target.private
    assert "Dora" in reply.text
    assert not {"Mina", "Otto", "Carla"} & set(re.findall(r"\w+", reply.text))


async def test_without_a_model_the_messages_are_shown_with_plain_names_the_newest_last(workspace: Workspace) -> None:
    workspace.context = workspace.bot.context
    await workspace.post("ada", "The roof leaks.")
    await workspace.post("bob", "I will look after it @channel.")
    await workspace.post("ada", "Elsewhere.", ATTIC)
    first, *shown = (await workspace.text("eve", "catch-up 3 days")).splitlines()
    assert shown[0].startswith("- [Ada, 2026-11-20 10:01 UTC](https://")
    assert "since 2026-11-19 10:00 UTC" in first
    expected = ["The roof leaks.", sanitize_inline("I will look after it @channel.")]
    assert [each.rpartition(": ")[2] for each in shown] == expected
    assert workspace.asked == []


async def test_without_a_model_a_file_is_one_line_with_its_title(workspace: Workspace) -> None:
    workspace.context = workspace.bot.context
    await workspace.post("ada", "The report is there.")
    passages = tuple(Passage(f"p{at}", f"Page {at} of the report.", f"Page {at}") for at in range(1, 4))
    time, room = datetime(2026, 11, 20, 9, tzinfo=UTC), ROOF.room
    await workspace.bot.engine.documents.add(
        Document("f1", "slack:T1:open", room, "report.md", passages, time, link="https://chat.example/f1")
    )
    await workspace.bot.engine.wait_until_indexed()
    assert "- [report.md](https://chat.example/f1)" in (await workspace.text("eve", "catch-up 3 days")).splitlines()


async def test_names_of_people_are_plain_text(workspace: Workspace) -> None:
    workspace.context, people = workspace.bot.context, workspace.platform.people
    people["ada"] = replace(people["ada"], name="[Ada](https://evil.example) <!here>")
    await workspace.post("ada", "The roof leaks.")
    text = await workspace.text("eve", "catch-up 3 days")
    assert "The roof leaks." in text
    assert not any(bad in text for bad in ("[Ada](", "https://evil", "<!here>"))


async def test_without_a_model_it_counts_as_a_question(workspace: Workspace) -> None:
    await workspace.post("ada", "The roof leaks.")
    alone = Workspace(workspace.bot, workspace.bot.context, RecordingAnswers())
    assert isinstance(alone.answer_service, RecordingAnswers)
    assert "roof leaks" in await alone.text("bob", "catch-up 3 days")
    assert [each.person for each in alone.answer_service.counted] == ["bob"]
    alone.answer_service.refusal = "Too many."
    with pytest.raises(NotAllowed, match="Too many"):
        await alone.text("bob", "catch-up 3 days")
