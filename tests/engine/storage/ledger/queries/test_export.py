"""Exports stream: the memory in use does not grow with what is exported."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise

import pytest

from engine.storage.ledger.queries.export import export_canonical, export_lines
from engine.storage.ledger.records import ExportFormat
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import HERE

FORMATS: tuple[ExportFormat, ...] = ("jsonl", "graphml")


async def fill(ledger: LedgerFixture, documents: range) -> None:
    for number in documents:
        names = [f"Name{chr(97 + number % 26)}{chr(97 + number // 26)}{n}x" for n in range(8)]
        await ledger.add_facts(f"d{number}", extraction(*names, text=f"said {number} " * 200))
    while await ledger.stale():
        await ledger.project()


async def measure(ledger: LedgerFixture, file_format: ExportFormat) -> tuple[int, int]:
    """The peak of bytes in Python objects, and the number of lines."""
    async with ledger.ledger.stream_connection() as db:
        lines = export_lines(db, file_format, HERE)
        gc.collect()
        tracemalloc.start()
        count = 0
        async for _ in lines:
            count += 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, count


@pytest.mark.long
async def test_memory_stays_flat_while_more_is_exported(ledger: LedgerFixture) -> None:
    await fill(ledger, range(12))
    few = [await measure(ledger, file_format) for file_format in FORMATS]
    await fill(ledger, range(12, 48))
    many = [await measure(ledger, file_format) for file_format in FORMATS]
    for (small_peak, some), (large_peak, all_) in zip(few, many, strict=True):
        assert all_ > 3.5 * some
        assert large_peak < 1.3 * small_peak + 50_000


async def test_the_lines_of_an_export_are_sorted_as_their_texts_are(ledger: LedgerFixture) -> None:
    for number, name in enumerate(["Ödön", "zoe", "Zoe B", "😀 a", "\uffee", 'a"b', "a\\b"]):
        await ledger.add_facts(f"{name} {number}", extraction(name, "Ada"))
    await ledger.project()
    async with ledger.ledger.stream_connection() as db:
        lines = [line async for line in export_canonical(db)]
    kinds = [line.split('"kind": "')[1].split('"')[0] for line in lines]
    assert len(set(kinds)) > 5
    for (kind, line), (next_kind, next_line) in pairwise(zip(kinds, lines, strict=True)):
        assert kind != next_kind or line <= next_line
