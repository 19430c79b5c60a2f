"""Searches run together; a change waits for them, and later searches wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.storage import search_gate
from engine.storage.search_gate import MAX_TOGETHER, TURNS, SearchGate, SearchThreads, share_work

SECONDS = 10.0


def test_searches_run_together_and_a_change_waits_for_them() -> None:
    gate, both, go_on, order = SearchGate(), threading.Barrier(3), threading.Event(), list[str]()

    def search() -> None:
        with gate.search():
            both.wait(SECONDS)
            go_on.wait(SECONDS)
            order.append("search")

    def change() -> None:
        with gate.change(), gate.change():
            order.append("change")

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(search), threads.submit(search)]
        both.wait(SECONDS)
        changing = threads.submit(change)
        assert not order
        go_on.set()
        for each in (*running, changing):
            each.result(SECONDS)
    assert order == ["search", "search", "change"]


def test_a_search_waits_for_a_change() -> None:
    gate, order = SearchGate(), list[str]()

    def search() -> None:
        with gate.search():
            order.append("search")

    with ThreadPoolExecutor(1) as threads:
        with gate.change():
            searching = threads.submit(search)
            order.append("change")
        searching.result(SECONDS)
    assert order == ["change", "search"]


async def test_queries_that_are_asked_for_at_once_in_one_area_are_one_search() -> None:
    threads, searches = SearchThreads(), list[tuple[tuple[int, ...], str]]()

    def search_each(queries: Sequence[int], area: str) -> list[int]:
        searches.append((tuple(queries), area))
        return [query * 10 for query in queries]

    asked = [(1, "here"), (2, "there"), (3, "here")]
    found = await asyncio.gather(*(threads.run_together(search_each, *each) for each in asked))
    assert found == [10, 20, 30]
    assert sorted(searches) == [((1, 3), "here"), ((2,), "there")]
    assert await threads.run_together(search_each, 4, "here") == 40
    assert len(searches) == 3


async def test_a_cancelled_query_leaves_the_others_their_result() -> None:
    threads = SearchThreads()

    def search_each(queries: Sequence[int], area: str) -> list[int]:
        return [query * 10 for query in queries]

    first, second = (asyncio.create_task(threads.run_together(search_each, query, "here")) for query in (1, 2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second == 20


async def test_an_error_reaches_every_query_of_a_search() -> None:
    threads = SearchThreads()

    def search_each(queries: Sequence[int], area: str) -> list[int]:
        raise ValueError(area)

    asked = (threads.run_together(search_each, query, "here") for query in (1, 2))
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [str(error) for error in found] == ["here", "here"]
    assert await threads.run_together(lambda queries, area: list(queries), 3, "here") == 3


@pytest.fixture
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_gate, "_count_cores", lambda: 2)


@pytest.mark.usefixtures("_two_cores")
def test_two_threads_take_the_items_of_shared_work_and_each_is_done_once() -> None:
    both, done = threading.Barrier(2), list[int]()

    def work(items: Iterator[int]) -> None:
        both.wait(SECONDS)
        done.extend(items)

    share_work(range(1_000), work)
    assert sorted(done) == list(range(1_000))
    share_work([], done.extend)
    assert len(done) == 1_000


@pytest.mark.usefixtures("_two_cores")
def test_shared_work_that_fails_raises_its_error_after_the_other_thread_has_ended() -> None:
    helping, failed, go_on, ended = threading.Event(), threading.Event(), threading.Event(), list[int]()
    sharing = threading.Event()

    def work(items: Iterator[int]) -> None:
        if not sharing.is_set():
            sharing.set()
            helping.wait(SECONDS)
            failed.set()
            raise ValueError(next(items))
        helping.set()
        go_on.wait(SECONDS)
        ended.append(next(items))

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(share_work, [7, 8], work)
        failed.wait(SECONDS)
        assert not running.done()
        go_on.set()
        with pytest.raises(ValueError, match="7"):
            running.result(SECONDS)
    assert ended == [8]


@pytest.mark.usefixtures("_two_cores")
def test_an_error_of_another_thread_is_raised() -> None:
    both = threading.Barrier(2)

    def work(items: Iterator[int]) -> None:
        both.wait(SECONDS)
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("beside")
        list(items)

    with pytest.raises(ValueError, match="beside"):
        share_work(range(10), work)


def test_one_thread_does_everything_where_no_other_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(search_gate, "_count_cores", lambda: 4)
    monkeypatch.setattr(search_gate, "_get_helpers", lambda: ThreadPoolExecutor(4))
    monkeypatch.setattr(threading.Thread, "start", fail)
    done = list[int]()
    share_work(range(10), done.extend)
    assert done == list(range(10))


async def test_few_queries_join_a_search_and_the_next_ones_have_their_own() -> None:
    threads, sizes = SearchThreads(), list[int]()

    def search_each(queries: Sequence[int], area: str) -> list[int]:
        sizes.append(len(queries))
        return list(queries)

    found = await asyncio.gather(*(threads.run_together(search_each, query, "here") for query in range(10)))
    assert found == list(range(10))
    assert sorted(sizes) == [2, MAX_TOGETHER, MAX_TOGETHER]


async def test_a_search_that_is_cancelled_before_it_begins_takes_no_later_queries() -> None:
    threads = SearchThreads()

    def search_each(queries: Sequence[int], area: str) -> list[int]:
        return list(queries)

    first = asyncio.create_task(threads.run_together(search_each, 1, "here"))
    await asyncio.sleep(0)
    [joined] = [each.task for each in threads._waiting]
    joined.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await threads.run_together(search_each, 2, "here") == 2
    assert not threads._waiting


async def test_a_change_is_made_before_the_queries_that_came_while_it_waited() -> None:
    threads, order = SearchThreads(), list[str]()

    def search_each(queries: Sequence[int], area: str) -> list[int]:
        order.append("search")
        return list(queries)

    async with threads.hold():
        searching = asyncio.create_task(threads.run_together(search_each, 1, "here"))
        for _ in range(3 * TURNS):
            await asyncio.sleep(0)
        order.append("change")
    assert await searching == 1
    assert order == ["change", "search"]
