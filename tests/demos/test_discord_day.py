"""The scripted day, lived through by the whole bot."""

from __future__ import annotations

from tests.demos.discord_day import run_day, start_bot


async def test_a_day_in_a_small_club() -> None:
    printed: list[str] = []
    discord = await run_day(start_bot, printed.append, pause=0.3)
    day = "\n".join(printed)
    before, after = day.split("14:00  Ada edits the date")
    assert "Thursday, 4 March" in before.partition("11:00  Cleo asks")[2]
    assert "it cost 62" in before
    assert "✅" in before.partition("10:30  Bo drops")[2].partition("11:00")[0]
    assert "Friday, 5 March" in after.partition("14:20")[0].partition("A source of this answer was removed")[2]
    assert "1,350" in after.partition("16:20  Ada asks in private")[2].partition("17:00")[0]
    assert "9 March" not in after
    curious, within = after.partition("16:00  Cleo is curious")[2].split("16:10  Ada asks the same")
    assert "1,350" not in curious
    assert "1,350" in within.partition("17:00")[0]
    assert "1,350" not in within.partition("17:00")[2]
    assert discord.pings == []
    assert discord.previews == []
    assert discord.refusals == []
