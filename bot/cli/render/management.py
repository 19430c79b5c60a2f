"""Show usage and health in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from bot.text.terminal import strip_control_chars

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bot.capabilities.management.results import HealthReport, UsageReport

COLORS = {"ok": "green", "degraded": "yellow", "failing": "red"}


def render_usage(report: UsageReport) -> RenderableType:
    """A row for each day on which something was used, and the sums."""
    table = Table("Day", "Answers", "Tokens", "US$", "Indexing tokens", "US$", box=None, title=report.workspace)
    used = [each for each in report.days if each.answers or each.tokens or each.indexing_tokens]
    for each in used:
        numbers = (f"{each.answers:,}", f"{each.tokens:,}", format_cost(each.cost, each.tokens))
        indexing = f"{each.indexing_tokens:,}", format_cost(each.indexing_cost, each.indexing_tokens)
        table.add_row(each.day.isoformat(), *numbers, *indexing)
    tokens = sum(each.tokens + each.indexing_tokens for each in used)
    cost = sum(each.cost + each.indexing_cost for each in used)
    price = f"{cost:.4f} US$" if cost or not tokens else "at an unknown price"
    return Group(table, Text(f"{len(report.days)} days: {tokens:,} tokens, {price}", "dim"))


def format_cost(cost: float, tokens: int) -> str:
    """A cost in US dollars; “unknown” where tokens were used and no price was known."""
    return "unknown" if tokens and not cost else f"{cost:.4f}"


def render_health(report: HealthReport) -> RenderableType:
    """The state with its reasons, the connections and the models."""
    lines = [Text(f"{report.status}, version {report.version}", COLORS.get(report.status, ""))]
    lines += [Text(strip_control_chars(f"  {each}")) for each in report.reasons]
    for platform in report.platforms:
        silent = platform.silent_seconds
        seen = "never connected" if silent is None else f"last sign of life {silent:.0f} s ago"
        lines.append(Text(f"{platform.name}: {seen}"))
    lines += [Text(f"model of {purpose}: {name or 'built in'}", "dim") for purpose, name in report.models]
    for each in report.checks:
        lines.append(Text(strip_control_chars(f"{each.role}: {each.summary}"), "dim"))
        lines += [Text(strip_control_chars(f"  {problem}"), "yellow") for problem in each.problems]
    return Group(*lines)
