from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter

from bot.commands.table import run_command
from bot.errors import NotAllowed
from bot.ingest.conversations import MessageRun, window_key
from bot.ingest.documents import ConversationDocuments
from bot.platform.events import CommandInvoked
from bot.text.markdown import sanitize_inline
from bot.texts import ONLY_NEWEST
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


SMALL_TALK = ("The weather is mild.", "Lunch was good.", "The van is back.", "Coffee is made.", "The door squeaks.")


async def post_busy_days(
    workspace: Workspace, *, windows: int, size: int, special: Mapping[int, tuple[str, ...]]
) -> None:
    """Windows of messages by Ada and Cem in the open channel; those of the special windows begin with these lines."""
    documents, numbers = ConversationDocuments(workspace.context), range(windows)
    for number in numbers:
        lines = [*special.get(number, ()), *(f"{SMALL_TALK[at % 5]} {number}.{at}" for at in range(size))][:size]
        said = [workspace.platform.add_message(ROOF, "ada" if at % 2 else "eve", line) for at, line in enumerate(lines)]
        rendered = [found for each in said if (found := await documents.render_message(each))]
        run = MessageRun(window_key(ROOF.room, said[0].id), "", rendered[0].title, tuple(rendered))
        await documents.add_run(run, ROOF)
    await workspace.engine.wait_until_indexed()


@pytest.mark.long
async def test_without_a_model_what_matters_of_240_messages_is_shown_whole_with_a_link_to_the_rest(
    workspace: Workspace,
) -> None:
    workspace.context = workspace.bot.context
    special = {
        3: ("The press is old.", "We keep the old press, and buy 40 rollers."),
        11: ("Bob, can you bring the ladder on Monday?", "It is for the gutter."),
        20: ("Who has the key of the shed?",),
    }
    await post_busy_days(workspace, windows=60, size=4, special=special)
    heading, *shown = (await workspace.text("bob", "catch-up 3 days")).splitlines()
    assert "since 2026-11-19 10:00 UTC" in heading
    assert "Decision" in next(each for each in shown if "We keep the old press" in each)
    assert "Asks you" in next(each for each in shown if "bring the ladder" in each)
    assert "Open question" in next(each for each in shown if "key of the shed" in each)
    threads = "\n".join(shown).split("\n- ")
    assert all(len(thread.strip().splitlines()) == 4 for thread in threads[:-1])  # whole
    assert shown[-1] == "… and 220 other messages: [start at the first one](https://chat.example/T1/ROOF/m1)"
    times = re.findall(r"2026-11-20 \d\d:\d\d", "\n".join(shown))
    assert times == sorted(times)


async def test_without_a_model_the_count_is_that_of_all_messages_of_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.context = workspace.bot.context
    await post_busy_days(workspace, windows=6, size=4, special={})
    await workspace.post("bob", "I am away until noon.")
    whole = await workspace.text("bob", "catch-up 3 days")
    assert "… and 8 other messages" in whole  # four conversations of four are shown
    assert ONLY_NEWEST not in whole
    monkeypatch.setattr("engine.retrieval.overview.MAX_OVERVIEW_CHUNKS", 3)
    shown = (await workspace.text("bob", "catch-up 3 days")).splitlines()
    quoted = sum(": " in line and "away until noon" not in line for line in shown if line.lstrip().startswith("- "))
    assert shown[-1] == ONLY_NEWEST
    assert shown[-3].startswith(f"… and {24 - quoted} other messages: ")


@pytest.mark.long
async def test_without_a_model_room_is_kept_for_what_matters(workspace: Workspace) -> None:
    workspace.context = workspace.bot.context
    empty = ("ok", "thanks!", "👍", "agreed")
    special = {at: (f"We decided to buy {at} rollers.", *empty) for at in range(1, 25)}
    await post_busy_days(workspace, windows=26, size=5, special=special)
    shown = (await workspace.text("bob", "catch-up 3 days")).splitlines()
    assert not any(line.endswith((": ok", ": thanks\\!", ": 👍")) for line in shown)
    decisions = [line for line in shown if "Decision" in line and "rollers" in line]
    assert len(decisions) > 12  # of whole conversations there would be 4


async def test_without_a_model_a_word_that_answers_a_question_is_shown(workspace: Workspace) -> None:
    workspace.context = workspace.bot.context
    lines = (
        "The mill is empty.",
        "ok",
        "Do we sell the mill to Krone for 40000?",
        "no",
        "Can the roof wait until May?",
        "I will ask Krone.",
        "yes please",
        "thanks!",
        "Somebody should call Krone.",
        "👍",
        "Yep",
        "no worries",
        "Who has the key?",
        "great",
        "thanks!",
    )
    await post_busy_days(workspace, windows=1, size=len(lines), special={0: lines})
    _, *shown = (await workspace.text("bob", "catch-up 3 days")).splitlines()
    quoted = [line.rpartition(": ")[2] for line in shown if line.lstrip().startswith("- ")]
    assert quoted == [sanitize_inline(line) for line in (lines[0], *lines[2:7], *lines[8:11], *lines[12:14])]


@pytest.mark.parametrize(
    ("zone", "now", "words", "since"),
    [
        ("Pacific/Auckland", "2026-11-21T20:00", "today", "2026-11-22 00:00 Pacific/Auckland"),
        ("Pacific/Auckland", "2026-11-21T20:00", "2026-11-22", "2026-11-22 00:00 Pacific/Auckland"),
        ("America/Los_Angeles", "2026-11-21T01:30", "today", "2026-11-20 00:00 America/Los_Angeles"),
        ("America/Los_Angeles", "2026-11-21T01:30", "friday", "2026-11-20 00:00 America/Los_Angeles"),
        ("Asia/Kolkata", "2026-11-20T20:00", "gestern", "2026-11-20 00:00 Asia/Kolkata"),
        ("Asia/Kolkata", "2026-11-20T20:00", "last week", "2026-11-09 00:00 Asia/Kolkata"),
    ],
)
async def test_a_day_is_that_of_the_caller(workspace: Workspace, zone: str, now: str, words: str, since: str) -> None:
    workspace.context, people = workspace.bot.context, workspace.platform.people
    people["bob"] = replace(people["bob"], time_zone=zone)
    invoked = CommandInvoked(
        "c1", ROOF, "bob", "catch-up", words, handle="h", time=datetime.fromisoformat(f"{now}+00:00")
    )
    card = await run_command(workspace, invoked)  # type: ignore[arg-type]
    assert card is not None
    assert f"since {since}" in card.text


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
