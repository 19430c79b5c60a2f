"""Searches in threads: several at once while nothing changes, joined if they read the same, divided among the cores."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from engine.scheduling.supervisor import wait_for_completion

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

TURNS = 4  # of the event loop, in which what else is asked for joins a search
MAX_TOGETHER = 4  # queries of a search: each takes memory for the similarity of every row
MAX_THREADS = 4  # that work on one search

Item = TypeVar("Item")
Result = TypeVar("Result")
Query = TypeVar("Query")
Area = TypeVar("Area")


@dataclass(slots=True)
class _SharedWork(Generic[Item]):
    """Items that several threads take one by one."""

    items: Iterator[Item]
    errors: list[BaseException] = field(default_factory=list)
    _condition: threading.Condition = field(default_factory=threading.Condition)
    _helping: int = 0
    _is_over: bool = False

    def help(self, work: Callable[[Iterator[Item]], object]) -> None:
        """Work on items unless all is over; an error is kept."""
        with self._condition:
            if self._is_over:
                return
            self._helping += 1
        try:
            work(self.items)
        except BaseException as error:  # noqa: BLE001 - raised in the thread that shares its work
            self.errors.append(error)
        finally:
            with self._condition:
                self._helping -= 1
                self._condition.notify_all()

    def finish(self) -> None:
        """Wait for those who help; nobody else does from now on."""
        with self._condition:
            self._is_over = True
            while self._helping:
                self._condition.wait()


def share_work(items: Sequence[Item], work: Callable[[Iterator[Item]], object]) -> None:
    """Let `work` take the items one by one, in this thread and in others, as many as there are cores.

    Every item is done at the end, and no other thread works on one. Raises what `work` raises.
    """
    shared = _SharedWork(iter(items))
    with suppress(RuntimeError):  # no thread can be started: this one does everything
        for _ in range(min(len(items), MAX_THREADS, _count_cores()) - 1):
            _get_helpers().submit(shared.help, work)
    try:
        work(shared.items)
    finally:
        shared.finish()
    if shared.errors:
        raise shared.errors[0]


@cache
def _get_helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, "search")


@cache
def _count_cores() -> int:
    """The cores that this process may use; systems without affinity have them all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class SearchGate:
    """Changes come from one thread, in which they may be nested; they wait for the searches of all threads.

    A search begins while no change is made.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.RLock())
        self._searches = 0

    @contextmanager
    def search(self) -> Iterator[None]:
        """While inside, nothing changes."""
        with self._condition:
            self._searches += 1
        try:
            yield
        finally:
            with self._condition:
                self._searches -= 1
                self._condition.notify_all()

    @contextmanager
    def change(self) -> Iterator[None]:
        """While inside, nothing is searched."""
        with self._condition:
            while self._searches:
                self._condition.wait()
            yield


class _Together(NamedTuple):
    """Queries that are searched for together in one area, and the task that does."""

    area: object
    queries: list[Any]
    task: asyncio.Task[list[Any]]

    def admits(self, area: object) -> bool:
        """Whether one more query of an area may join."""
        return not self.task.done() and len(self.queries) < MAX_TOGETHER and self.area == area


class SearchThreads:
    """Runs searches beside the event loop, which goes on while a change waits for them."""

    def __init__(self) -> None:
        self._running = 0
        self._waiting: list[_Together] = []
        self._is_idle, self._may_begin = asyncio.Event(), asyncio.Event()
        self._is_idle.set()
        self._may_begin.set()

    async def run(self, search: Callable[[], Result]) -> Result:
        """The result of a search in another thread, which begins as soon as none are held."""
        while not self._may_begin.is_set():
            await self._may_begin.wait()
        self._running += 1
        self._is_idle.clear()
        try:
            return await wait_for_completion(asyncio.to_thread(search))
        finally:
            self._running -= 1
            if not self._running:
                self._is_idle.set()

    async def run_together(
        self, search_each: Callable[[Sequence[Query], Area], list[Result]], query: Query, area: Area
    ) -> Result:
        """As `run`; few queries that come with equal areas, within few turns of the event loop, are one search.

        `search_each` is the same function for all who may join.
        """
        together = next((each for each in self._waiting if each.admits(area)), None)
        if together is None:
            queries = list[Query]()
            searching = self._search_together(partial(search_each, queries, area), queries)
            together = _Together(area, queries, asyncio.ensure_future(searching))
            self._waiting = [*(each for each in self._waiting if not each.task.done()), together]
        place = len(together.queries)
        together.queries.append(query)
        found: list[Result] = await wait_for_completion(together.task)
        return found[place]

    async def _search_together(self, search: Callable[[], list[Result]], queries: list[Query]) -> list[Result]:
        try:
            for _ in range(TURNS):
                await asyncio.sleep(0)
        finally:
            self._waiting = [each for each in self._waiting if each.queries is not queries]
        return await self.run(search)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """While inside, no search runs: running ones are waited for, others wait. One caller at a time."""
        self._may_begin.clear()
        try:
            await self._is_idle.wait()
            yield
        finally:
            self._may_begin.set()
