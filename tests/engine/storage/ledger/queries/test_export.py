"""Exports stream: what is in memory at once does not grow with what is exported."""

from __future__ import annotations

import gc
import tracemalloc
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

import pytest

from engine.storage.ledger import Ledger
from engine.storage.ledger.queries import stats
from engine.storage.ledger.queries.export import export_graphml
from engine.storage.ledger.queries.lookup import resolve_scope
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import HERE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

Form = Literal["jsonl", "graphml"]
FEW = 40


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[LedgerFixture]:
    ledger = await Ledger.open(home / "ledger.db")
    try:
        yield LedgerFixture(ledger)
    finally:
        await ledger.close()


async def fill(ledger: LedgerFixture, documents: range) -> None:
    for number in documents:
        names = [f"Name{chr(97 + number % 26)}{chr(97 + number // 26)}{n}x" for n in range(8)]
        await ledger.add_facts(f"d{number}", extraction(*names, text=f"said {number} " * 200))
    while await ledger.stale():
        await ledger.project()


async def peak(ledger: LedgerFixture, form: Form) -> tuple[int, int]:
    """The bytes of Python's objects at the most, and the number of lines."""
    async with ledger.ledger.stream_connection() as db:
        lines = (
            stats.export_canonical(db, {"here"})
            if form == "jsonl"
            else export_graphml(db, await resolve_scope(db, HERE))
        )
        gc.collect()
        tracemalloc.start()
        count = 0
        async for _ in lines:
            count += 1
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most, count


@pytest.mark.parametrize("form", get_args(Form))
async def test_memory_stays_flat_while_more_is_exported(tmp_path: Path, form: Form) -> None:
    async with opened(tmp_path) as ledger:
        await fill(ledger, range(FEW))
        less, some = await peak(ledger, form)
        await fill(ledger, range(FEW, 4 * FEW))
        more, all_ = await peak(ledger, form)
        assert all_ > 3.5 * some
        assert more < 1.3 * less + 50_000


async def test_the_lines_of_an_export_are_sorted_as_their_texts_are(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        for number, name in enumerate(["Ödön", "zoe", "Zoe B", "😀 a", "\uffee", 'a"b', "a\\b"]):
            await ledger.add_facts(f"{name} {number}", extraction(name, "Ada"))
        await ledger.project()
        async with ledger.ledger.stream_connection() as db:
            lines = [line async for line in stats.export_canonical(db)]
        kinds = [line.split('"kind": "')[1].split('"')[0] for line in lines]
        assert len(set(kinds)) > 5
        for (kind, line), (following, next_line) in pairwise(zip(kinds, lines, strict=True)):
            assert kind != following or line <= next_line
