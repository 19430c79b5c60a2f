"""Sudden death at a chosen step: the writing methods of the stores are wrapped, counted, and one of them kills."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from engine.storage.graph.kuzu import KuzuGraph
from engine.storage.ledger import Ledger
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.pgvector import PostgresVectors

Method = Callable[..., Awaitable[Any]]

When = Literal["before", "during", "after"]
WRAPPED: tuple[tuple[type, str, tuple[str, ...]], ...] = (
    (Ledger, "ledger", ("write", "compact")),
    (KuzuGraph, "graph", ("upsert", "delete", "replace_all", "compact")),
    (LanceVectors, "vectors", ("upsert", "delete", "clear", "compact", "_open_table")),
    (PostgresLedger, "ledger", ("write", "compact")),
    (PostgresVectors, "vectors", ("upsert", "delete", "clear", "compact")),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Die at the `number`-th call of a step, `delay` seconds after it has begun if during it."""

    step: str
    number: int
    when: When
    delay: float = 0.0

    def __str__(self) -> str:
        return f"{self.step},{self.number},{self.when},{self.delay:.6f}"

    @classmethod
    def parse(cls, text: str) -> Fault:
        step, number, when, delay = text.split(",")
        assert when in {"before", "during", "after"}
        return cls(step, int(number), when, float(delay))  # type: ignore[arg-type]


def install_fault(fault: Fault | None) -> Counter[str]:
    """Wrap the stores of this process; gives the counts of the steps, which go on counting."""
    counts: Counter[str] = Counter()
    for owner, label, methods in WRAPPED:
        for name in methods:
            setattr(owner, name, _wrap_method(getattr(owner, name), f"{label}.{name}", counts, fault))
    return counts


def _wrap_method(method: Method, label: str, counts: Counter[str], fault: Fault | None) -> Method:
    @functools.wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        step = f"ledger.{args[1].__name__}" if label == "ledger.write" else label
        counts[step] += 1
        if fault is None or fault.step != step or counts[step] != fault.number:
            return await method(*args, **kwargs)
        if fault.when == "before":
            kill_process()
        running = asyncio.ensure_future(method(*args, **kwargs))
        if fault.when == "during":
            await asyncio.wait([running], timeout=fault.delay)
            kill_process()
        await running
        kill_process()
        return None

    return call


def kill_process() -> None:
    """What `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
