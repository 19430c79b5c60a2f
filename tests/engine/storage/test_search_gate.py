"""Searches run together; a change waits for them, and later searches wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.storage.search_gate import SearchGate, SearchThreads, share_work

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


def test_each_item_of_shared_work_is_done_once() -> None:
    done = list[int]()
    share_work(range(1_000), done.extend)
    assert sorted(done) == list(range(1_000))
    share_work([], done.extend)
    assert len(done) == 1_000


def test_shared_work_that_fails_raises_its_error_after_all_threads_have_ended() -> None:
    running = list[int]()

    def fail_at(items: Iterator[int]) -> None:
        for item in items:
            running.append(item)
            if item == 500:
                raise ValueError(item)
            running.remove(item)

    for _ in range(20):
        running.clear()
        with pytest.raises(ValueError, match="500"):
            share_work(range(1_000), fail_at)
        assert running == [500]
