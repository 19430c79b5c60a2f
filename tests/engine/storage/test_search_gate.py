"""Searches run together; a change waits for them, and later searches wait for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from engine.storage.search_gate import SearchGate

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
