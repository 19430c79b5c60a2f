"""Show usage, health and sources in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from bot.cli.render.tables import render_failures
from bot.text.terminal import strip_control_chars

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.management.results import HealthReport, UsageReport
    from bot.capabilities.results import SourceReport


COLORS = {"ok": "green", "degraded": "yellow", "failing": "red"}
CONFIRM_HINT = "`threadlore source sync NAME --forget-missing` forgets what is gone."


def render_usage(report: UsageReport) -> RenderableType:
    """A row for each day on which something was used, and the sums."""
    table = Table("Day", "Answers", "Tokens", "US$", "Indexing tokens", "US$", box=None, title=report.workspace)
    used = [day for day in report.days if day.answers or day.tokens or day.indexing_tokens]
    for day in used:
        numbers = (f"{day.answers:,}", f"{day.tokens:,}", format_cost(day.cost, day.tokens))
        indexing = f"{day.indexing_tokens:,}", format_cost(day.indexing_cost, day.indexing_tokens)
        table.add_row(day.day.isoformat(), *numbers, *indexing)
    tokens = sum(day.tokens + day.indexing_tokens for day in used)
    cost = sum(day.cost + day.indexing_cost for day in used)
    price = f"{cost:.4f} US$" if cost or not tokens else "at an unknown price"
    return Group(table, Text(f"{len(report.days)} days: {tokens:,} tokens, {price}", "dim"))


def format_cost(cost: float, tokens: int) -> str:
    """A cost in US dollars; “unknown” where tokens were used and no price was known."""
    return "unknown" if tokens and not cost else f"{cost:.4f}"


def render_health(report: HealthReport) -> RenderableType:
    """The state with its reasons, the connections and the models."""
    lines = [Text(f"{report.status}, version {report.version}", COLORS.get(report.status, ""))]
    lines += [Text(strip_control_chars(f"  {reason}")) for reason in report.reasons]
    for platform in report.platforms:
        silent = platform.silent_seconds
        seen = "never connected" if silent is None else f"last sign of life {silent:.0f} s ago"
        lines.append(Text(f"{platform.name}: {seen}"))
    lines += [Text(f"model of {purpose}: {name or 'built in'}", "dim") for purpose, name in report.models]
    for check in report.checks:
        lines.append(Text(strip_control_chars(f"{check.role}: {check.summary}"), "dim"))
        lines += [Text(strip_control_chars(f"  {problem}"), "yellow") for problem in check.problems]
    return Group(*lines)


def render_source_report(event: SourceReport) -> RenderableType:
    """The numbers of a synchronization, what was not read, and why it is not complete."""
    line = f"{event.name}: {event.documents}, {event.changed:,} new or changed, {event.removed:,} forgotten"
    rows: list[RenderableType] = [Text(strip_control_chars(f"{line}, in {event.seconds:.1f} s"))]
    rows += [render_failures(event.unread, "not read")] if event.unread else []
    if event.trouble:
        rows += [Text(strip_control_chars(event.trouble), "red")]
        rows += [Text(CONFIRM_HINT.replace("NAME", event.name), "dim")] if "gone at once" in event.trouble else []
    return Group(*rows)
