"""The scripted day, lived through by the whole bot with the app that the manifest describes."""

from __future__ import annotations

from tests.demos.slack_day import load_manifest, run_day, start_bot


async def test_a_day_in_a_small_workspace() -> None:
    printed: list[str] = []
    slack = await run_day(start_bot, printed.append, app=load_manifest(), pause=0.3)
    day = "\n".join(printed)
    in_public, in_wages = (day.partition("asks in #general ")[2]).split("Ada asks the same", 1)
    assert "fibreglass spars by Orrin & Sons" in day
    assert "tail tore off after 25 minutes" in day
    assert "(only visible to you): " in day
    assert "From the sources" not in day
    moved = day.partition("Ada moves it by an edit")[2].partition("Bo deletes")[0]
    assert "14 April" in moved.partition("A source of this answer was removed")[0]
    assert "14 April" not in moved.partition("A source of this answer was removed")[2]
    assert "21 April" in moved.partition("A source of this answer was removed")[2]
    assert "✅" in day.partition("Bo drops a file")[2].partition("Cleo asks")[0]
    assert "4,150" in day.partition("Ada asks in private in #general")[2].partition("What Cleo sees")[0]
    assert "2 March" not in day.partition("Bo deletes what they wrote")[2].partition("━━ Dee")[0]
    assert "4,150" not in in_public
    assert "4,150" in in_wages.partition("What Cleo sees")[0]
    assert "4,150" not in in_wages.partition("What Cleo sees")[2]
    assert slack.space.pings == []
    refused = {call.outcome for call in slack.calls} - {"ok"}
    assert refused == set()
