from __future__ import annotations

from datetime import date
from io import StringIO

from rich.console import Console, RenderableType

from bot.capabilities.management.results import DayUsage, HealthReport, PlatformState, UsageReport
from bot.cli.render.management import render_health, render_usage


def show(shown: RenderableType) -> str:
    console = Console(file=StringIO(), width=80)
    console.print(shown)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_usage_has_a_row_for_each_day_on_which_something_was_used() -> None:
    days = (DayUsage(date(2026, 5, 1)), DayUsage(date(2026, 5, 2), 2, 1500, 0.25, 1, 0, 300, 0.05))
    shown = show(render_usage(UsageReport("shed", days)))
    assert "2026-05-01" not in shown
    assert "2026-05-02  2        1,500   0.2500  300              0.0500" in shown
    assert "2 days: 1,800 tokens, 0.3000 US$" in shown


def test_health_says_what_is_wrong_and_what_is_connected() -> None:
    platforms = (PlatformState("slack", 12.4), PlatformState("discord", None))
    shown = show(render_health(HealthReport("degraded", ("A \x1bmodel fails.",), "1", platforms, (("answers", ""),))))
    assert shown.splitlines() == [
        "degraded, version 1",
        "  A model fails.",
        "slack: last sign of life 12 s ago",
        "discord: never connected",
        "model of answers: built in",
    ]
