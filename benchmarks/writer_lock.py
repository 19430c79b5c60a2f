"""The lock by which the writers of a ledger in PostgreSQL take turns: how long it is held and waited for, and why.

`watched_lock` looks at the server from outside, and sees all processes. `measured_transactions` counts those of its own
process: what runs in them, and how much of that time the thread and the server compute.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from engine.scheduling.supervisor import child_task
from engine.storage.postgres import connection, database
from engine.storage.postgres.database import PostgresDatabase
from engine.storage.sql.connection import Connection, Dialect
from engine.storage.sql.database import SqlDatabase

LOCK_LOOK = 0.01  # seconds between two looks at the lock of writers
LEDGER_LOCK = "threadlore_ledger"
# Whoever holds it waits for its client, for the disk, or works.
LOOK_AT_LOCK = (
    "SELECT l.granted, COALESCE(a.wait_event, 'work') FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 1"
    f" AND (l.classid::bigint << 32 | l.objid::bigint) = hashtext('{LEDGER_LOCK}')::bigint"
)


@dataclass(slots=True)
class LockWatch:
    """How often the lock was seen held, at what, and how many waited for it on average."""

    looks: int = 0
    waiting: int = 0
    held: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def watch(self, url: str) -> None:
        """Look at the lock until cancelled."""
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as server:
            while True:
                cursor = await server.execute(LOOK_AT_LOCK)
                self.looks += 1
                for granted, event in await cursor.fetchall():
                    if granted:
                        self.held[event] += 1
                    else:
                        self.waiting += 1
                await asyncio.sleep(LOCK_LOOK)

    def __str__(self) -> str:
        looks = max(self.looks, 1)
        events = sorted(self.held.items(), key=lambda item: -item[1])
        parts = ", ".join(f"{event} {count / looks:.0%}" for event, count in events)
        return (
            f"lock of writers: held {sum(self.held.values()) / looks:.0%} of the time ({parts}),"
            f" {self.waiting / looks:.2f} waiting"
        )


@asynccontextmanager
async def watched_lock(url: str) -> AsyncIterator[None]:
    """Print what is seen of the lock meanwhile."""
    watch = LockWatch()
    async with child_task(watch.watch(url)):
        yield
    print(f"  {watch}", flush=True)


@dataclass(slots=True)
class Costs:
    """What a kind of write came to: statements, answers that the thread waited for, and seconds.

    `waited`: for the lock. `held`: from then to the end. `thread`, `server`: of the processor, in this thread and in
    the process of the server. A write alone waits for no lock.
    """

    count: int = 0
    statements: int = 0
    answers: int = 0
    waited: float = 0.0
    held: float = 0.0
    thread: float = 0.0
    server: float = 0.0

    def add(self, other: Costs) -> None:
        """Count another one, too."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)


class CountingConnection:
    """A connection that counts the statements of a write in its costs, and the answers that it waits for."""

    dialect = Dialect.POSTGRES

    def __init__(self, db: Connection, costs: Costs) -> None:
        self._db = db
        self._costs = costs
        self._answered = 0  # statements whose answers are here

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        self._costs.statements += 1
        self._db.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        rows = list(parameters)
        self._costs.statements += bool(rows)
        self._db.executemany(sql, rows)

    def fetch_each(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> list[Any]:
        return self.fetch_each_later(sql, parameters)()

    def fetch_each_later(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Callable[[], list[Any]]:
        rows = list(parameters)
        self._costs.statements += bool(rows)
        return self._count_answer(self._db.fetch_each_later(sql, rows)) if rows else list

    def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[Any]:
        return self.fetch_later(sql, parameters)()

    def fetch_later(self, sql: str, parameters: Sequence[Any] = (), /) -> Callable[[], list[Any]]:
        self._costs.statements += 1
        return self._count_answer(self._db.fetch_later(sql, parameters))

    def _count_answer(self, fetch: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
        place = self._costs.statements

        def wait() -> list[Any]:
            if place > self._answered:
                self._answered = self._costs.statements
                self._costs.answers += 1
            return fetch()

        return wait


class Stopwatch:
    """Time since it was made: of the wall, of the processor in this thread and in the server's process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since = self._look()

    def stop(self, costs: Costs) -> None:
        """Add what has passed to these costs."""
        held, thread, server = (now - since for now, since in zip(self._look(), self._since, strict=True))
        costs.add(Costs(held=held, thread=thread, server=server))

    def _look(self) -> tuple[float, float, float]:
        return time.perf_counter(), time.thread_time(), _read_server_seconds(self._pid)


def _read_server_seconds(pid: int) -> float:
    """Seconds of the processor that a process of the server has taken; 0 if it is on another machine."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


@dataclass(slots=True)
class TransactionMeter:
    """The costs of the transactions of processes, and of each kind of write in them."""

    transactions: Costs = field(default_factory=Costs)
    writes: dict[str, Costs] = field(default_factory=dict)

    def add_write(self, kind: str, costs: Costs) -> None:
        """Count a write of a kind."""
        self.writes.setdefault(kind, Costs()).add(costs)

    def to_json(self) -> str:
        """All figures in one line."""
        return json.dumps(asdict(self))

    def add_json(self, text: str) -> None:
        """Count those of another process, too."""
        found = json.loads(text)
        self.transactions.add(Costs(**found["transactions"]))
        for kind, costs in found["writes"].items():
            self.add_write(kind, Costs(**costs))

    def format_table(self, documents: int) -> str:
        """What each document costs: one row for all transactions, and one for each kind of write, the longest first."""
        columns = ("a document", "count", "statements", "answers", "waited ms", "held ms", "thread ms", "server ms")
        rows = [f"  | {' | '.join(columns)} |", f"  {'|---' * len(columns)}|"]
        ordered = sorted(self.writes.items(), key=lambda item: -item[1].held)
        for kind, costs in (("transactions", self.transactions), *ordered):
            counts = costs.count, costs.statements, costs.answers
            seconds = costs.waited, costs.held, costs.thread, costs.server
            values = [
                *(f"{count / documents:.2f}" for count in counts),
                *(f"{s * 1000 / documents:.2f}" for s in seconds),
            ]
            rows.append(f"  | {kind} | {' | '.join(values)} |")
        return "\n".join(rows)


def _measure_writes(meter: TransactionMeter) -> tuple[tuple[Any, str, Any], ...]:
    """Methods for classes and modules that measure the transactions on the ledger."""
    plain_write, plain_run = SqlDatabase.write, PostgresDatabase._run_works
    plain_lock = connection.locked_transaction
    pid, watches, granted = 0, list[Stopwatch](), list[Any]()

    async def write(self: SqlDatabase, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def measure(db: Connection) -> Any:
            costs, watch = Costs(1), Stopwatch(pid)
            try:
                return work(CountingConnection(db, costs), *args, **kwargs)
            finally:
                watch.stop(costs)
                meter.transactions.add(Costs(statements=costs.statements, answers=costs.answers))
                meter.add_write(work.__qualname__, costs)

        return await plain_write(self, measure)

    @contextmanager
    def locked_transaction(raw: Any, lock: str, process: int | None) -> Iterator[None]:
        nonlocal pid
        pid = raw.info.backend_pid
        watches[:] = [Stopwatch(pid)]
        with plain_lock(raw, lock, process):
            granted[:] = [raw.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())::float8")]
            yield

    def run_works(self: PostgresDatabase, works: Sequence[Callable[[Connection], Any]]) -> list[Any]:
        asked, costs = time.time(), Costs(1)
        found = plain_run(self, works)
        watches.pop().stop(costs)
        [since] = granted.pop().fetchone()
        costs.waited, costs.held = since - asked, time.time() - since
        meter.transactions.add(costs)
        return found

    return (
        (SqlDatabase, "write", write),
        (PostgresDatabase, "_run_works", run_works),
        (database, "locked_transaction", locked_transaction),
    )


@contextmanager
def measured_transactions() -> Iterator[TransactionMeter]:
    """Measure the transactions of this process on the ledger meanwhile."""
    meter = TransactionMeter()
    ours = _measure_writes(meter)
    plain = [(owner, name, getattr(owner, name)) for owner, name, _ in ours]
    for owner, name, method in ours:
        setattr(owner, name, method)
    try:
        yield meter
    finally:
        for owner, name, method in plain:
            setattr(owner, name, method)
