"""What lets searches in together, and a change alone: between threads, and beside an event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from engine.scheduling.supervisor import wait_for_completion

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

TURNS = 4  # of the event loop, in which what else is asked for joins a search
MAX_THREADS = min(4, os.cpu_count() or 1)  # that work on one search

Item = TypeVar("Item")
Result = TypeVar("Result")
Query = TypeVar("Query")
Area = TypeVar("Area")


def share_work(items: Sequence[Item], work: Callable[[Iterator[Item]], object]) -> None:
    """Let `work` take the items one by one, here and beside this thread on as many cores as are there and free.

    Every item is done at the end. Raises what `work` raises.
    """
    waiting = iter(items)
    helpers = [_load_helpers().submit(work, waiting) for _ in range(min(len(items), MAX_THREADS) - 1)]
    try:
        work(waiting)
    finally:
        started = [helper for helper in helpers if not helper.cancel()]
        wait(started)
    for helper in started:
        helper.result()


@cache
def _load_helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, "search")


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
        """As `run`; what is asked for with equal areas within few turns of the event loop is one search."""
        together = next((each for each in self._waiting if each.area == area), None)
        if together is None:
            queries = list[Query]()
            searching = self._search_together(partial(search_each, queries, area), queries)
            together = _Together(area, queries, asyncio.ensure_future(searching))
            self._waiting.append(together)
        place = len(together.queries)
        together.queries.append(query)
        found: list[Result] = await wait_for_completion(together.task)
        return found[place]

    async def _search_together(self, search: Callable[[], list[Result]], queries: list[Query]) -> list[Result]:
        for _ in range(TURNS):
            await asyncio.sleep(0)
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
