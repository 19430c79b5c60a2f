"""The register has the decisions and tasks of what its reader can read, with what replaced them."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from bot.capabilities.caller import Caller
from bot.capabilities.decisions.requests import DecisionList, ListDecisions
from bot.capabilities.results import ExportLine
from bot.capabilities.run import run_for_person
from bot.commands.table import run_command
from bot.platform.events import CommandInvoked
from bot.store import Subject
from engine.errors import InvalidQuestion
from tests.bot.commands.conftest import RecordingAnswers, Workspace
from tests.support.bot_fixture import BotFixture


async def list_for(bot: BotFixture, reader: str, **fields: Any) -> Any:
    subject = Subject("slack", "T1", reader)
    place = bot.platform.place("YARD")
    scope = await bot.context.audience.scope_for_person(place, reader)
    results = run_for_person(bot.deps, Caller("person", subject, scope, place), ListDecisions(**fields))
    return [result async for result in results][-1]


async def texts_for(bot: BotFixture, reader: str, **fields: Any) -> list[str]:
    found = await list_for(bot, reader, **fields)
    assert isinstance(found, DecisionList)
    return [row[1] for row in found.rows]


async def fill(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    vault = await bot.join("VAULT", "bob", kind="closed")
    await bot.post(yard, "bob", "We decided that the kiln opens on 3 May.")
    await bot.post(yard, "ada", "I'll order the clay by Friday.", after=3600)
    await bot.post(vault, "bob", "We decided to sell the barn.", after=3600)
    await bot.post_indexed(yard, "bob", "Correction: the kiln opens on 10 May.")


async def test_it_lists_who_until_when_where_and_what_replaced_it_and_nothing_of_other_rooms(bot: BotFixture) -> None:
    await fill(bot)
    found = await list_for(bot, "ada")
    assert [(row[0], row[1], row[2], row[3], row[7], row[8].split(" (")[0]) for row in found.rows] == [
        ("task", "I'll order the clay by Friday.", "Ada", "Friday", "open", ""),
        (
            *("decision", "We decided that the kiln opens on 3 May.", "Bob", "", "replaced"),
            "Correction: the kiln opens on 10 May.",
        ),
    ]
    assert all(row[6].startswith("https://chat.example/T1/YARD/") for row in found.rows)
    assert "We decided to sell the barn." in await texts_for(bot, "bob")


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"entry_kind": "task"}, 1),
        ({"state": "replaced"}, 1),
        ({"person": "@Ada"}, 1),
        ({"channel": "#yard"}, 2),
        ({"until": "2026-11-19"}, 0),
        ({"until": "2026-11-20"}, 2),
        ({"limit": 1}, 1),
    ],
)
async def test_it_is_filtered(bot: BotFixture, fields: dict[str, Any], count: int) -> None:
    await fill(bot)
    assert len(await texts_for(bot, "ada", **fields)) == count


@pytest.mark.parametrize("fields", [{"since": "someday"}, {"channel": "vault"}])
async def test_an_unknown_time_or_channel_is_refused(bot: BotFixture, fields: dict[str, Any]) -> None:
    await fill(bot)
    with pytest.raises(InvalidQuestion):
        await list_for(bot, "ada", **fields)


async def test_what_is_deleted_is_not_listed_any_more(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    message = await bot.post_indexed(yard, "bob", "We decided to sell the barn.")
    assert await texts_for(bot, "ada") == ["We decided to sell the barn."]
    await bot.delete(message)
    assert await texts_for(bot, "ada") == []


async def test_no_cell_of_a_table_is_a_formula(bot: BotFixture) -> None:
    yard = await bot.join("YARD", "ada", "bob")
    await bot.post_indexed(yard, "bob", "=1+1 was approved, “so” we go.")
    found = await list_for(bot, "ada", as_csv=True)
    assert isinstance(found, ExportLine)
    heading, row = csv.reader(found.text.splitlines())
    assert heading[0] == "kind"
    assert row[1].startswith("'=1+1")


async def test_the_chat_lists_them_with_links(bot: BotFixture) -> None:
    await fill(bot)
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    called = CommandInvoked("c", bot.platform.place("YARD"), "ada", "decisions", "", time=bot.platform.current_time())
    card = await run_command(workspace, called)  # type: ignore[arg-type]
    assert card is not None
    task, decision = card.text.splitlines()
    assert task.startswith("- **Task** I'll order the clay by Friday.")
    assert "due Friday" in task
    assert "~~We decided that the kiln opens on 3 May.~~ → Correction" in decision
    assert "https://chat.example/T1/YARD/" in decision


@pytest.mark.parametrize(("words", "count"), [("before:2026-11-20", 0), ("before:2026-11", 0), ("after:2026-11-20", 2)])
async def test_in_the_chat_before_leaves_out_the_day_that_it_names(bot: BotFixture, words: str, count: int) -> None:
    await fill(bot)
    workspace = Workspace(bot, bot.context, RecordingAnswers())
    now, yard = bot.platform.current_time(), bot.platform.place("YARD")
    card = await run_command(workspace, CommandInvoked("c", yard, "ada", "decisions", words, time=now))  # type: ignore[arg-type]
    assert card is not None
    assert card.text.count("- **") == count
