"""The scripted days, lived through by the whole bot."""

from __future__ import annotations

import pytest

from tests.demos import discord_day, slack_day
from tests.demos.day import start_bot


@pytest.mark.long
async def test_a_day_in_a_small_club() -> None:
    printed: list[str] = []
    discord = await discord_day.run_day(start_bot, printed.append, pause=0.3)
    day = "\n".join(printed)
    before, after = day.split("14:00  Ada edits the date")
    assert "Thursday, 4 March" in before.partition("11:00  Cleo asks")[2]
    assert "it cost 62" in before
    assert "✅" in before.partition("10:30  Bo drops")[2].partition("11:00")[0]
    reviewed = before.partition("12:00  Ada verifies")[2].partition("13:00  Ada names")[0]
    assert reviewed.count("Verified by Ada") == 2
    assert "mayor? – 1 time: Bo" in reviewed.partition("/unanswered")[2].partition("/pin")[0]
    assert "9 March" in reviewed.partition("in: #workshop from: @Bo")[2].partition("/catch-up")[0]
    assert "planks for the canoe" in reviewed.partition("/catch-up")[2].partition("12:30  A thread")[0]
    assert "“Then it is decided: red.” [[" in reviewed.partition("Summarize thread")[2]
    assert "Bo asks you as an expert" in before.partition("presses Ask an expert")[2].partition("13:10  Ada lets")[0]
    assert "`links` is now **on**" in before.partition("Linked pages: Off → on")[2]
    assert "three meters costs 35" in before.partition("What does a stall at the fair cost?")[2]
    digest = before.partition("13:20  Ada schedules")[2]
    assert "comes weekly monday 09:00 Europe/Berlin, next on" in digest
    assert "**New files**\n    - kiln-manual.md [" in digest.partition("**Digest.**")[2]
    cleo, bo = after.partition("14:20")[0].split("Bo types")
    assert "A source of this answer was removed or changed" in cleo  # the words of a command are not kept
    assert "Friday, 5 March" in bo
    assert "1,350" in after.partition("16:20  Ada asks in private")[2].partition("17:00")[0]
    assert "9 March" not in after
    curious, within = after.partition("16:00  Cleo is curious")[2].split("16:10  Ada asks the same")
    assert "1,350" not in curious
    assert "1,350" in within.partition("17:00")[0]
    assert "1,350" not in within.partition("17:00")[2]
    assert len(discord.pings) == 1
    assert (discord.previews, discord.refusals) == ([], [])


@pytest.mark.long
async def test_a_day_in_a_small_workspace() -> None:
    printed: list[str] = []
    slack = await slack_day.run_day(start_bot, printed.append, pause=0.3)
    day = "\n".join(printed)
    in_public, in_wages = (day.partition("asks in #general ")[2]).split("Ada asks the same", 1)
    assert "fibreglass spars by Orrin & Sons" in day
    assert "tail tore off after 25 minutes" in day
    suggested = day.partition("Bo presses: What about “The Box kite”")[2].partition("And what happened to")[0]
    assert "Bo asked: What about “The Box kite” in “Wind test of 11 November”?" in suggested
    assert "(only visible to you): " in day
    assert "From the sources" not in day
    reviewed = day.partition("Ada verifies the last answer")[2].partition("Bo asks for a date")[0]
    assert reviewed.count("Verified by Ada") == 2
    assert "mayor? (https://smallco.slack.com" in reviewed.partition("types: /threadlore unanswered")[2]
    assert "fibreglass spars" in reviewed.partition("in:#workshop from:@Bo")[2].partition("catch-up")[0]
    assert "The digest of this channel comes weekly monday 09:00" in reviewed
    assert "Bo asks you as an expert" in day.partition("presses: Ask an expert")[2].partition("Ada changes")[0]
    assert "`askers` is now *members*" in day.partition("Who may ask: everyone → members")[2]
    digest = day.partition("A week goes by")[2].partition("Bo asks for a date")[0]
    assert "*Digest.* What is new in this channel, from" in digest
    assert "wind-test-report.md [" in digest.partition("New files")[2]
    moved = day.partition("Ada moves it by an edit")[2].partition("Bo deletes")[0]
    assert "14 April" in moved.partition("Changed since")[0]
    assert "14 April" not in moved.partition("Changed since")[2]
    assert "21 April" in moved.partition("Changed since")[2]
    assert "✅" in day.partition("Bo drops a file")[2].partition("Cleo asks")[0]
    assert "4,150" in day.partition("Ada asks in private in #general")[2].partition("What Cleo sees")[0]
    assert "2 March" not in day.partition("Bo deletes what they wrote")[2].partition("━━ Dee")[0]
    assert "4,150" not in in_public
    assert "4,150" in in_wages.partition("What Cleo sees")[0]
    assert "4,150" not in in_wages.partition("What Cleo sees")[2]
    assert len(slack.space.pings) == 1
    assert {call.outcome for call in slack.calls} == {"ok"}
