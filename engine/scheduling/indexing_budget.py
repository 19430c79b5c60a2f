"""The budget for indexing: what the texts of a workspace may cost in a day and in a month (UTC).

It covers what a language model reads for the graph: extraction and summaries. Vectors are always made, so that a text
can be found. A workspace whose budget is used up waits for the next period; nothing of it is given up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import structlog

from engine.errors import IndexingBudgetSpent
from engine.usage import PausedTexts, SpentBudget

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

    from engine.clock import Clock
    from engine.usage import IndexingLimits, Period, SpaceUsage


NO_PRICE = (
    "The indexing budget in dollars cannot be kept: the price of the model for extraction is not known. Limit its"
    " tokens instead (THREADLORE_INDEXING_TOKENS_PER_DAY, THREADLORE_INDEXING_TOKENS_PER_MONTH)."
)
REFRESH_SECONDS = 5.0  # after which the sums are read again: other processes use the models, too
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkspaceUsage:
    """Tokens and cost (US dollars) that a workspace used in this day and this month."""

    day_tokens: int = 0
    day_cost: float = 0.0
    month_tokens: int = 0
    month_cost: float = 0.0

    def plus(self, tokens: int) -> WorkspaceUsage:
        """The usage with tokens of calls that run, at the price of the month so far."""
        cost = tokens * self.month_cost / self.month_tokens if self.month_tokens else 0.0
        return WorkspaceUsage(
            self.day_tokens + tokens, self.day_cost + cost, self.month_tokens + tokens, self.month_cost + cost
        )


def find_spent(limits: IndexingLimits, workspace: str, used: WorkspaceUsage, today: date) -> SpentBudget | None:
    """The budget of a workspace that is used up and that lasts longest, None if there is none. Pure."""
    checks: Sequence[tuple[Period, float, float, str]] = (
        ("month", used.month_tokens, limits.month_tokens, f"{limits.month_tokens:,} tokens"),
        ("month", used.month_cost, limits.month_dollars, f"${limits.month_dollars:,.2f}"),
        ("day", used.day_tokens, limits.day_tokens, f"{limits.day_tokens:,} tokens"),
        ("day", used.day_cost, limits.day_dollars, f"${limits.day_dollars:,.2f}"),
    )
    for period, spent, limit, shown in checks:
        if limit and spent >= limit:
            return SpentBudget(workspace, period, shown, next_period(period, today))
    return None


def next_period(period: Period, today: date) -> date:
    """The first day of the next period."""
    if period == "day":
        return today + timedelta(days=1)
    return (today.replace(day=1) + timedelta(days=32)).replace(day=1)


@dataclass(slots=True)
class IndexingBudget:
    """Says which spaces have to wait. `load`: the usage of all spaces since (day, first day of the month)."""

    limits: IndexingLimits
    clock: Clock
    load: Callable[[str, str], Awaitable[Sequence[SpaceUsage]]]
    _workspaces: dict[int, str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _used: dict[str, WorkspaceUsage] = field(default_factory=dict)
    _spent: dict[str, SpentBudget] = field(default_factory=dict)
    _running: dict[int, int] = field(default_factory=dict)
    _loaded_at: float = -math.inf
    _loaded_day: date = date.min

    @property
    def paused(self) -> PausedTexts:
        """The texts that are not read by a model now; those that rules read are never among them."""
        if not self.limits.counts("file"):
            return PausedTexts()
        spaces = frozenset(space for space, workspace in self._workspaces.items() if workspace in self._spent)
        return PausedTexts(spaces, only_files=not self.limits.counts("conversation"))

    async def refresh(self) -> None:
        """Read the usage again if it may have changed."""
        now, today = self.clock.monotonic(), self._today()
        if not self.limits.is_set or (now - self._loaded_at < REFRESH_SECONDS and today == self._loaded_day):
            return
        self._loaded_at, self._loaded_day = now, today
        self._apply(await self.load(today.isoformat(), today.replace(day=1).isoformat()), today)

    def expire(self) -> None:
        """Let the next `refresh` read the usage: calls were recorded, or a space is new."""
        self._loaded_at = -math.inf

    def reserve(self, space: int, tokens: int) -> bool:
        """Count tokens of a call that is about to start; False if the budget has none left for it."""
        if not (self.limits.is_set and tokens):
            return True
        workspace = self._workspaces.get(space)
        if workspace is None:
            self.expire()
            return False
        running = sum(each for of, each in self._running.items() if self._workspaces.get(of) == workspace)
        used = self._used[workspace].plus(running)
        if find_spent(self.limits, workspace, used, self._today()) is not None:
            return False
        self._running[space] = self._running.get(space, 0) + tokens
        return True

    def release(self, space: int, tokens: int) -> None:
        """End what `reserve` began, once the usage of the call is recorded."""
        if self.limits.is_set and tokens:
            self._running[space] -= tokens
            self.expire()

    def find_refusal(self, space: int) -> IndexingBudgetSpent | None:
        """Why no call may be made for a text of a space; None if it may."""
        spent = self._spent.get(self._workspaces.get(space, ""))
        return None if spent is None else IndexingBudgetSpent(str(spent))

    def describe_spent(self, spaces: Collection[str]) -> str:
        """The budgets of the workspaces of some spaces that are used up, as sentences; "" if there are none."""
        workspaces = {self._names[space] for space in spaces if space in self._names}
        return " ".join(str(self._spent[name]) for name in sorted(workspaces & self._spent.keys()))

    def list_spent(self) -> list[SpentBudget]:
        """The budgets that are used up, by workspace."""
        return [self._spent[name] for name in sorted(self._spent)]

    def list_problems(self) -> list[str]:
        """What the administrator should know: the budgets that are used up, and one that cannot be kept."""
        in_tokens = self.limits.day_tokens or self.limits.month_tokens
        unpriced = any(used.month_tokens and not used.month_cost for used in self._used.values())
        return [*map(str, self.list_spent()), *([NO_PRICE] if unpriced and not in_tokens else [])]

    def _today(self) -> date:
        return datetime.fromtimestamp(self.clock.time(), UTC).date()

    def _apply(self, rows: Iterable[SpaceUsage], today: date) -> None:
        self._workspaces, self._names, self._used = {}, {}, {}
        for row in rows:
            workspace = self._workspaces[row.space] = self._names[row.name] = self.limits.find_workspace(row.name)
            sums = self._used.get(workspace, WorkspaceUsage())
            self._used[workspace] = WorkspaceUsage(
                sums.day_tokens + row.day_tokens,
                sums.day_cost + row.day_cost,
                sums.month_tokens + row.month_tokens,
                sums.month_cost + row.month_cost,
            )
        found = {name: find_spent(self.limits, name, used, today) for name, used in self._used.items()}
        before, self._spent = self._spent, {name: spent for name, spent in found.items() if spent is not None}
        for name in sorted(self._spent.keys() - before.keys()):
            log.warning("indexing.budget_spent", workspace=name, period=self._spent[name].period)
        for name in sorted(before.keys() - self._spent.keys()):
            log.info("indexing.budget_available", workspace=name)
