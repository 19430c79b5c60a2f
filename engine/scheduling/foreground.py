"""What background work waits for: callers who wait for an answer, more work of its batch, the budget for indexing.

The budget covers what a language model reads for the graph: extraction and summaries. Vectors are always made, so that
a text can be found. A workspace whose budget is used up waits for the next period; nothing of it is given up.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeVar

import structlog

from engine.errors import IndexingBudgetSpent
from engine.usage import PausedTexts, SpentBudget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence

    from engine.clock import Clock
    from engine.usage import IndexingLimits, Period, SpaceUsage


Item = TypeVar("Item")

YIELD_INTERVAL_SECONDS = 0.005  # seconds of work after which other tasks of the event loop get a turn
# Seconds that background work yields at a stretch, and seconds in which it then does not.
MAX_YIELD_SECONDS, YIELD_PAUSE_SECONDS = 3.0, 0.5
MAX_QUOTED = 1000  # chunks that are remembered
RECENT_REQUEST_SECONDS = 5.0  # seconds after a question in which another one is likely

_is_foreground: ContextVar[bool] = ContextVar("foreground", default=False)
NO_PRICE = (
    "The indexing budget in dollars cannot be kept: the price of the model for extraction is not known. Limit its"
    " tokens instead (THREADLORE_INDEXING_TOKENS_PER_DAY, THREADLORE_INDEXING_TOKENS_PER_MONTH)."
)
REFRESH_SECONDS = 5.0  # after which the sums are read again: other processes use the models, too

log = structlog.get_logger(__name__)


class ForegroundPriority:
    """Counts foreground requests; background work checks before each of its steps."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting = 0
        self._paused_until = float("-inf")  # until when background work does not yield
        self._last_request = float("-inf")
        self._quoted = deque[int](maxlen=MAX_QUOTED)
        self._no_requests = asyncio.Event()
        self._no_requests.set()

    @contextmanager
    def foreground_request(self) -> Iterator[None]:
        """Register a foreground request while this is held."""
        self._waiting += 1
        self._last_request = self._clock.monotonic()
        self._no_requests.clear()
        try:
            with foreground_calls():
                yield
        finally:
            self._waiting -= 1
            self._last_request = self._clock.monotonic()
            if not self._waiting:
                self._no_requests.set()

    def record_quoted(self, chunks: Iterable[int]) -> None:
        """Note the chunks that were found for a question: those that wait for a model are read at once."""
        self._quoted.extend(chunks)

    def has_quoted(self, chunks: Iterable[int]) -> bool:
        """Whether one of the chunks was found for a question lately."""
        return not set(self._quoted).isdisjoint(chunks)

    @property
    def is_recent(self) -> bool:
        """Whether there was a request a moment ago, so that batches should be short."""
        return self._waiting > 0 or self._clock.monotonic() - self._last_request < RECENT_REQUEST_SECONDS

    async def yield_to_foreground(self) -> None:
        """Wait until no foreground request is pending (bounded)."""
        if self._no_requests.is_set() or self._clock.monotonic() < self._paused_until:
            return
        try:
            async with asyncio.timeout(
                MAX_YIELD_SECONDS
            ):  # not `wait_for`: on Python 3.11 that may swallow the cancellation of this task
                await self._no_requests.wait()
        except TimeoutError:
            self._paused_until = self._clock.monotonic() + YIELD_PAUSE_SECONDS


async def iterate_cooperatively(
    items: Iterable[Item], priority: ForegroundPriority | None = None
) -> AsyncIterator[Item]:
    """Iterate with pauses for other tasks: a long loop would block them."""
    loop = asyncio.get_running_loop()
    since = loop.time()
    for item in items:
        yield item
        if loop.time() - since > YIELD_INTERVAL_SECONDS:
            await asyncio.sleep(0)
            if priority is not None:
                await priority.yield_to_foreground()
            since = loop.time()


@contextmanager
def foreground_calls() -> Iterator[None]:
    """Mark all work started inside as foreground work."""
    before = _is_foreground.get()
    _is_foreground.set(True)
    try:
        yield
    finally:
        _is_foreground.set(before)  # no token: a generator may be ended in another context


def is_urgent() -> bool:
    """Whether this runs within `foreground_calls`."""
    return _is_foreground.get()


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


class NextStep(Enum):
    """The step after a batch: idle (no work), gather (wait for more work), or continue at once."""

    IDLE = auto()
    GATHER = auto()
    CONTINUE = auto()

    @classmethod
    def after_batch(cls, count: int, limit: int) -> NextStep:
        """The step after a batch of `count` items out of at most `limit`: more work follows a full batch."""
        return cls.IDLE if not count else cls.CONTINUE if count >= limit else cls.GATHER


class WaitTarget(Enum):
    """What a caller waits for: the end of all work, or the work that is there already."""

    EVERYTHING = auto()
    PRESENT = auto()


class BatchGate:
    """Tracks waiting callers, to decide whether a batch may be delayed.

    While extraction runs, small batches do not help a caller who waits for the end of all work; they help one who waits
    for existing work.
    """

    def __init__(self) -> None:
        self._waiters: Counter[WaitTarget] = Counter()
        self._extracting = False
        self._no_delay = asyncio.Event()

    def has_waiter(self, target: WaitTarget) -> bool:
        """Whether a caller waits for that."""
        return self._waiters[target] > 0

    @contextmanager
    def register_waiter(self, target: WaitTarget) -> Iterator[None]:
        """Register a waiting caller while this is held."""
        self._waiters[target] += 1
        self._update_delay()
        try:
            yield
        finally:
            self._waiters[target] -= 1
            self._update_delay()

    def set_extracting(self, running: bool) -> None:  # noqa: FBT001 - the state itself
        """Set whether extraction is running."""
        self._extracting = running
        self._update_delay()

    async def wait_for_more(self, seconds: float) -> None:
        """Wait for so many seconds, or until a caller needs the next batch."""
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._no_delay.wait()

    def _update_delay(self) -> None:
        if self.has_waiter(WaitTarget.PRESENT) or (self.has_waiter(WaitTarget.EVERYTHING) and not self._extracting):
            self._no_delay.set()
        else:
            self._no_delay.clear()
