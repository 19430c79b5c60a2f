"""The page of health: connections, queues, models and what is being indexed."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from adapters.web.operations import Access, get_result
from adapters.web.pages.session import OPEN_HINT, PageAccess, PageOptions
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from bot.capabilities.documents.unread import describe_counts, describe_problem
from bot.capabilities.management.requests import GetHealth
from bot.capabilities.management.results import HealthReport
from bot.capabilities.requests import GetStatus
from bot.capabilities.results import StatusResult

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/health", "Health", "health", "manage")
MAX_PROBLEMS = 20  # listed on the page
STATES = {
    "ok": ("Everything works", "good"),
    "degraded": ("Something needs attention", "warn"),
    "failing": ("Something fails", "bad"),
}
STARTS_OR_ENDS = ("It starts or ends", "warn")


@router.get("/health")
async def show_health(http: Request, access: PageAccess) -> Response:
    """Show the state of the program, as far as it concerns the visitor."""
    return await render_page(http, access, "health.html", **await _load(http, access))


@router.get("/health/state")
async def show_state(http: Request, access: PageAccess) -> Response:
    """Show the state alone."""
    return render_part("parts/health.html", **await _load(http, access))


async def _load(http: Request, access: Access) -> dict[str, Any]:
    report = await get_result(http, access, GetHealth(), HealthReport)
    found = await get_result(http, access, GetStatus(with_problems=True), StatusResult)
    title, tone = STATES.get(report.status, STARTS_OR_ENDS)
    options: PageOptions = http.app.state.page_options
    return {
        "report": report,
        "index": found.status,
        "unread_files": describe_counts(found.unread_files),
        "problems": [describe_problem(problem) for problem in (found.problems or ())[:MAX_PROBLEMS]],
        "title": title,
        "tone": tone,
        "warning": OPEN_HINT if options.is_open else "",
        "format_duration": format_duration,
    }


def format_duration(seconds: float | None) -> str:
    """A time span in words of its largest unit."""
    if seconds is None:
        return "none"
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' * (count != 1)}"
    return f"{seconds:.0f} s"
