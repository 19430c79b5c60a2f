"""Statements that connections to PostgreSQL run, recorded with their parameters, and which tables their plans read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import psycopg
import pytest
from pgvector.psycopg import register_vector
from psycopg import AsyncCursor, RawCursor

from engine.storage import psycopg_calls
from engine.storage.postgres import connection, pool

EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")

LIST_PARTIAL_INDEXES = "SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its parameters. `is_raw`: its placeholders are `$1`."""

    text: str
    parameters: Any
    is_raw: bool


@dataclass(slots=True)
class Recorder:
    """Statements in order."""

    statements: list[Statement] = field(default_factory=list)

    def add(self, query: Any, parameters: Any, *, is_raw: bool) -> None:
        """Record a statement of the application."""
        text = query.decode() if isinstance(query, bytes) else query if isinstance(query, str) else query.as_string()
        self.statements.append(Statement(text, parameters, is_raw))


@contextmanager
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Record the statements of all connections that are opened inside."""
    recorder = Recorder()

    class RecordingRawCursor(RawCursor[Any]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            recorder.add(query, params, is_raw=True)
            return super().execute(query, params, **options)

        def executemany(self, query: Any, params_seq: Iterable[Any], **options: Any) -> None:
            rows = list(params_seq)
            for row in rows:
                recorder.add(query, row, is_raw=True)
            super().executemany(query, rows, **options)

    class RecordingAsyncCursor(AsyncCursor[Any]):
        async def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            recorder.add(query, params, is_raw=False)
            return await super().execute(query, params, **options)

    with monkeypatch.context() as patch:
        patch.setattr(connection, "RawCursor", RecordingRawCursor)
        for module in (pool, psycopg_calls):
            patch.setattr(module, "AsyncCursor", RecordingAsyncCursor)
        yield recorder


@dataclass(slots=True)
class Plan:
    """The tables and partitions that a statement reads or writes, and the tables and indexes that it reads as a whole.

    Indexes of some rows only, such as those of work to do, are not large.
    """

    relations: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)

    def add(self, node: dict[str, Any]) -> None:
        """Add a node of the plan with all below it."""
        if name := node.get("Relation Name"):
            self.relations.add(name)
            if node["Node Type"].endswith("Seq Scan"):
                self.whole.add(name)
            elif "Index" in node["Node Type"] and "Index Cond" not in node:
                self.whole.add(node["Index Name"])
        for text in node.get("Plans", ()):
            self.add(text)


@contextmanager
def explainer(url: str) -> Iterator[Callable[[Statement], Plan]]:
    """A function that gives the plan of a statement for large tables: it uses an index where one can be used."""
    raw_options = connection.connection_options("threadlore_ledger", "public")
    options = connection.connection_options("threadlore_vectors", "public", "threadlore_ledger")
    with psycopg.connect(url, **raw_options) as raw, psycopg.connect(url, **options) as named:
        register_vector(named)
        partial = {name for (name,) in raw.execute(LIST_PARTIAL_INDEXES).fetchall()}
        for each, method in product((raw, named), ("seqscan", "hashjoin", "mergejoin")):
            each.execute(f"SELECT set_config('enable_{method}', 'off', false)")

        def explain(statement: Statement) -> Plan:
            cursor: Any = RawCursor(raw) if statement.is_raw else psycopg.Cursor(named)
            cursor.execute(f"EXPLAIN (FORMAT JSON) {statement.text}", statement.parameters)
            [[[found]]] = cursor.fetchall()
            plan = Plan()
            plan.add(found["Plan"])
            plan.whole -= partial
            return plan

        yield explain
