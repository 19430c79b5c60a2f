"""The page of usage: answers, votes, and what questions and indexing took by day, as bars and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response

from adapters.web.operations import get_result
from adapters.web.pages.session import PageAccess  # noqa: TC001  - read at run time
from adapters.web.pages.shell import NavigationEntry, render_page
from bot.capabilities.management.requests import GetUsage
from bot.capabilities.management.results import DayUsage, UsageReport

if TYPE_CHECKING:
    from collections.abc import Sequence

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/usage", "Usage", "usage", "manage")
PERIODS = (7, 30, 90)
CHART_HEIGHT, CHART_WIDTH = 120, 720  # units of the picture


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the picture in its units, and what it stands for."""

    x: float
    y: float
    width: float
    height: float
    title: str


@router.get("/usage")
async def show_usage(http: Request, access: PageAccess, days: Annotated[int, Query(ge=1, le=366)] = 30) -> Response:
    """Show what the workspace of the manager used."""
    report = await get_result(http, access, GetUsage(days), UsageReport)
    has_cost = any(day.cost or day.indexing_cost for day in report.days)
    asked = [day.cost if has_cost else float(day.tokens) for day in report.days]
    indexed = [day.indexing_cost if has_cost else float(day.indexing_tokens) for day in report.days]
    whole = [sum(pair) for pair in zip(asked, indexed, strict=True)]
    show = format_cost if has_cost else format_tokens
    titles = [
        f"{day.day:%b %-d}: {show(all_)}, of this {show(part)} for indexing"
        for day, all_, part in zip(report.days, whole, indexed, strict=True)
    ]
    return await render_page(
        http,
        access,
        "usage.html",
        report=report,
        total=add_up(report.days),
        used=[day for day in reversed(report.days) if day != DayUsage(day.day)],
        bars=build_bars(whole, titles),
        question_bars=build_bars(asked, titles, max(whole)),
        measure="Cost" if has_cost else "Tokens",
        most=show(max(whole)),
        periods=PERIODS,
        days=days,
        format_cost=format_cost,
        width=CHART_WIDTH,
        height=CHART_HEIGHT,
    )


def add_up(days: Sequence[DayUsage]) -> DayUsage:
    """The sums of all days."""
    return DayUsage(
        days[-1].day,
        sum(day.answers for day in days),
        sum(day.tokens for day in days),
        sum(day.cost for day in days),
        sum(day.votes_up for day in days),
        sum(day.votes_down for day in days),
        sum(day.indexing_tokens for day in days),
        sum(day.indexing_cost for day in days),
    )


def format_cost(cost: float, tokens: int = 0) -> str:
    """US dollars, with as many digits as small sums need; “unknown” where tokens were used and no price was known."""
    if tokens and not cost:
        return "unknown"
    if cost and cost < 0.01:
        return f"${cost:.4f}"
    return f"${cost:,.2f}"


def format_tokens(tokens: float) -> str:
    """A number of tokens."""
    return f"{tokens:,.0f}"


def build_bars(values: Sequence[float], titles: Sequence[str], most: float = 0.0) -> list[Bar]:
    """The bars of values, from left to right; `most`, or the highest one, fills the picture."""
    step, most = CHART_WIDTH / len(values), most or max(values) or 1.0
    bars = []
    for number, (value, title) in enumerate(zip(values, titles, strict=True)):
        height = round(max(value / most * CHART_HEIGHT, 1.5 if value else 0.0), 1)
        x, width = round(number * step + step * 0.12, 1), round(step * 0.76, 1)
        bars.append(Bar(x, round(CHART_HEIGHT - height, 1), width, height, title))
    return bars
