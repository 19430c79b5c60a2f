"""The processes that work on one database: their registration, proof of life, leases and notifications."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import psycopg
import structlog

from engine.errors import LOST, DatabaseInUse, DatabaseLost, DatabaseReadOnly, DatabaseUnreachable, StoreError
from engine.scheduling.processes import LocalLeases, Loss, RunningProcess, SignsOfLife, Subscriptions
from engine.scheduling.supervisor import cancel_tasks, wait_for_completion
from engine.storage.postgres import process_statements as statements
from engine.storage.postgres.call_limits import DELETE_UNUSED, SharedCallLimits
from engine.storage.postgres.connection import (
    POSTGRES_ERRORS,
    REPLACED,
    KnownConnections,
    connection_options,
    shut_down,
    translate_error,
)
from engine.storage.postgres.pool import LoopPool
from engine.storage.postgres.schema import PROCESS_SCHEMA

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping

    from engine.clock import Clock
    from engine.scheduling.processes import CallLimits
    from engine.scheduling.supervisor import Supervisor

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

LABEL = "processes"
ADDRESS_HINT = "Write postgresql://user:password@host/name, and special characters of the password as %XX."
CHECK_SECONDS = 3.0  # between two checks of the connection that proves that this process lives
CHECK_TIMEOUT = 6.0  # seconds after which a check counts as failed
STATEMENT_TIMEOUT = 30.0  # of any other statement; it may wait for the last write of a process that ends
HUNG_SECONDS = 150.0  # without a sign of life, after which others take over the work of a process that is connected
REAP_SECONDS = 2.0  # between two searches for ended processes
LEASE_POLL_SECONDS = 1.0  # between two attempts to get a lease, should a notification be lost
NOTIFY_PAUSE_SECONDS = 0.02  # at least, between two notifications: each commits
POOL_SIZE = 3


class ProcessRegistry:
    """`Processes` on a PostgreSQL database.

    One connection proves that this process lives, and receives notifications; if it ends, `lost` is set. A few others
    send notifications, and get and free leases; they may break and are replaced.
    """

    def __init__(self, pool: LoopPool, alive: psycopg.AsyncConnection[Any], id_: int, clock: Clock) -> None:
        self.id = id_
        self._clock = clock
        self.lost = Loss()
        self.is_read_only = False
        self.taken_over = 0
        self.call_limits: CallLimits | None = SharedCallLimits(self._execute)
        self._pool = pool
        self._alive = alive
        self._local = LocalLeases()
        self._unfreed = set[str]()  # leases whose release failed
        self._signs_of_life = SignsOfLife()
        self._subscriptions = Subscriptions()
        self._unsent = set[str]()
        self._has_unsent = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, supervisor: Supervisor, clock: Clock, *, alone: bool = False) -> AsyncIterator[Self]:
        """Register this process until the end of the block.

        Raises DatabaseInUse if another process is there that must be `alone`, or if this one must be and others are
        there; and StoreError if the database cannot be reached.
        """
        check_address(url)
        async with AsyncExitStack() as stack:
            connections = KnownConnections()
            try:
                await asyncio.to_thread(_migrate, url)
                options = _build_options()
                alive = await stack.enter_async_context(await psycopg.AsyncConnection.connect(url, **options))
                connections.add(alive)
                await _enter(alive, alone=alone)
                stack.push_async_callback(_unlock, alive)
                id_ = await _register(alive)
                pool = LoopPool(url, options, POOL_SIZE)
                await stack.enter_async_context(pool)
            except POSTGRES_ERRORS as error:
                raise translate_error(error, LABEL) from error
            registry = cls(pool, alive, id_, clock)
            registry.lost.on_set(connections.end)
            registry.lost.on_set(pool.end)
            await registry._reap()
            await registry._execute(DELETE_UNUSED)
            stack.push_async_callback(registry._leave)
            for name, work in (
                ("process registry", registry._watch),
                ("take over work", registry._reap_periodically),
                ("notify processes", registry._send_notifications),
            ):
                stack.push_async_callback(cancel_tasks, supervisor.run(name, work))
            yield registry

    def subscribe(self, topic: str, wake: Callable[[], object]) -> None:
        """Call `wake` at every notification, and when the work of an ended process is free."""
        self._subscriptions.add(topic, wake)

    def unsubscribe(self, topic: str, wake: Callable[[], object]) -> None:
        """Undo `subscribe`."""
        self._subscriptions.remove(topic, wake)

    def notify(self, topic: str) -> None:
        """Wake the subscribers of all processes."""
        self._subscriptions.wake(topic)
        self._unsent.add(topic)
        self._has_unsent.set()

    async def list_running(self) -> list[RunningProcess]:
        """All processes, the oldest first. Raises StoreError."""
        return [RunningProcess(*row) for row in await self._execute(statements.LIST_PROCESSES)]

    @asynccontextmanager
    async def lease(self, name: str) -> AsyncIterator[None]:
        """Wait for a named lease and hold it. Raises StoreError."""
        async with self._local.lock(name):
            try:
                while not await self._insert_lease(name):
                    await self._wait_for_release(name)
                yield
            finally:
                await wait_for_completion(self._free_lease(name))

    @asynccontextmanager
    async def try_lease(self, name: str) -> AsyncIterator[bool]:
        """Hold a named lease unless a task of any process has it. Raises StoreError."""
        lock = self._local.lock(name)
        if lock.locked():
            yield False
            return
        async with lock:
            try:
                yield await self._insert_lease(name)
            finally:
                await wait_for_completion(self._free_lease(name))

    async def list_leases(self, prefix: str) -> Mapping[str, int]:
        """The held leases whose names start with `prefix`, and the processes that hold them. Raises StoreError."""
        return dict(await self._execute(statements.LIST_LEASES, (prefix,)))

    async def _insert_lease(self, name: str) -> bool:
        try:
            return bool(await self._execute(statements.INSERT_LEASE, (name, self.id)))
        except psycopg.errors.ForeignKeyViolation as error:
            self.lost.set()
            raise DatabaseLost(REPLACED) from error

    async def _wait_for_release(self, name: str) -> None:
        freed, topic = asyncio.Event(), _lease_topic(name)
        self._subscriptions.add(topic, freed.set)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEASE_POLL_SECONDS):
                    await freed.wait()
        finally:
            self._subscriptions.remove(topic, freed.set)

    async def _free_lease(self, name: str) -> None:
        """Free a lease; if that fails, it is tried again after the next search for ended processes."""
        self._unfreed.add(name)
        with suppress(StoreError):
            if await self._execute(statements.DELETE_LEASE, (name, self.id)):
                self.notify(_lease_topic(name))
            self._unfreed.discard(name)

    async def _watch(self) -> None:
        """Receive notifications; set `lost` once the connection or the row of this process is gone."""
        try:
            while await self._is_registered():
                async for note in self._alive.notifies(timeout=CHECK_SECONDS):
                    self._receive(note.payload)
        except (psycopg.Error, TimeoutError) as error:
            log.critical("database.lost", error=type(error).__name__)
        self.lost.set()

    async def _is_registered(self) -> bool:
        """Whether the row of this process is there. Raises TimeoutError if the server does not answer in time."""
        return await _answer_in_time(self._show_life(), partial(shut_down, self._alive))

    async def _show_life(self) -> bool:
        """Show a sign of life; a server that takes no changes, from nobody, still knows who is registered."""
        try:
            cursor = await self._alive.execute(statements.SHOW_LIFE, (self.id,))
            self._record_writing(is_read_only=False)
        except psycopg.errors.ReadOnlySqlTransaction:
            self._record_writing(is_read_only=True)
            cursor = await self._alive.execute(statements.FIND_PROCESS, (self.id,))
        except psycopg.Error as error:
            if self._alive.closed:
                raise
            # Nobody removes a process whose connection holds its lock.
            log.warning("database.check_refused", error=type(error).__name__)
            return True
        return await cursor.fetchone() is not None

    def _record_writing(self, *, is_read_only: bool) -> None:
        if is_read_only is not self.is_read_only:
            log.warning("database.read_only" if is_read_only else "database.writable")
        self.is_read_only = is_read_only

    def _receive(self, payload: str) -> None:
        sender, _, topic = payload.partition(" ")
        if not topic:
            self._subscriptions.wake_all()
        elif sender != str(self.id):
            self._subscriptions.wake(topic)

    async def _send_notifications(self) -> None:
        while True:
            await self._has_unsent.wait()
            self._has_unsent.clear()
            topics, self._unsent = self._unsent, set()
            payloads = [f"{self.id} {topic}" for topic in sorted(topics)]
            try:
                await self._execute(statements.NOTIFY, (statements.CHANNEL, payloads))
            except BaseException:
                self._unsent |= topics
                self._has_unsent.set()
                raise
            await asyncio.sleep(NOTIFY_PAUSE_SECONDS)

    async def _reap_periodically(self) -> None:
        while True:
            await asyncio.sleep(REAP_SECONDS)
            try:
                await self._reap()
            except DatabaseReadOnly:  # nobody works then whose work could be taken over
                continue
            for name in list(self._unfreed):
                if not (lock := self._local.lock(name)).locked():
                    async with lock:
                        await self._free_lease(name)

    async def _reap(self) -> None:
        """Remove the processes that have ended, which frees their work; waits for their last writes.

        Those that hang are cut off from the database, and are among the ended ones the next time.
        """
        if ended := await self._execute(statements.DELETE_ENDED, (statements.PROCESS_CLASS, statements.CHANNEL)):
            self.taken_over += len(ended)
            log.warning("database.process_ended", processes=[id_ for id_, _ in ended])
        signs = dict(await self._execute(statements.LIST_SIGNS_OF_LIFE, (self.id,)))
        for hung in self._signs_of_life.list_silent(signs, self._clock.monotonic(), HUNG_SECONDS):
            log.warning("database.process_hangs", process=hung)
            await self._execute(statements.END_PROOF_OF_LIFE, (statements.PROCESS_CLASS, hung))

    async def _leave(self) -> None:
        """Remove this process; the connection that proves its life ends afterwards."""
        if self.lost.is_set():
            return
        with suppress(StoreError, TimeoutError):
            leaving = self._execute(statements.DELETE_PROCESS, (self.id, statements.CHANNEL))
            await _answer_in_time(leaving, self._pool.end)

    async def _execute(self, statement: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Run a statement in a transaction of its own; returns its rows. It runs again if its connection was broken."""
        try:
            try:
                return await self._execute_once(statement, parameters)
            except psycopg.OperationalError:
                return await self._execute_once(statement, parameters)
        except psycopg.errors.ForeignKeyViolation:
            raise
        except TimeoutError as error:
            raise DatabaseUnreachable("The database of the processes did not answer in time.") from error
        except POSTGRES_ERRORS as error:
            raise (DatabaseLost(LOST) if self.lost.is_set() else translate_error(error, LABEL)) from error

    async def _execute_once(self, statement: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        async with self._pool.connection() as connection:
            fetching = _fetch(connection, statement, parameters)
            return await _answer_in_time(fetching, partial(shut_down, connection), STATEMENT_TIMEOUT)


def check_address(url: str) -> None:
    """Raise StoreError for an address that cannot be read; libraries would quote parts of it, perhaps the password."""
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreError("The address of the database cannot be read.", hint=ADDRESS_HINT) from None


def _migrate(url: str) -> None:
    with psycopg.connect(url, **connection_options(PROCESS_SCHEMA.name)) as raw:
        PROCESS_SCHEMA.migrate(raw)


def _build_options() -> dict[str, Any]:
    """Arguments of the connections; a server that fails ends all processes, so commits need not wait for its disk."""
    options = connection_options(PROCESS_SCHEMA.name)
    options["options"] += " -c synchronous_commit=off"
    return options | {"cursor_factory": psycopg.AsyncRawCursor}


async def _enter(connection: psycopg.AsyncConnection[Any], *, alone: bool) -> None:
    """Take the lock that all processes share, or all of it. Raises DatabaseInUse."""
    cursor = await connection.execute(statements.ENTER_ALONE if alone else statements.ENTER, (statements.IN_USE_LOCK,))
    if await cursor.fetchone() != (True,):
        raise DatabaseInUse("The database is in use by another process.")


async def _unlock(connection: psycopg.AsyncConnection[Any]) -> None:
    """Give up all locks now; the server notices only later that a connection was closed."""
    with suppress(TimeoutError, *POSTGRES_ERRORS):
        await _answer_in_time(connection.execute(statements.UNLOCK_ALL), partial(shut_down, connection))


async def _register(connection: psycopg.AsyncConnection[Any]) -> int:
    """Insert the row of this process; nobody sees it before its lock is held."""
    async with connection.transaction():
        cursor = await connection.execute(statements.INSERT_PROCESS, (f"{socket.gethostname()}:{os.getpid()}",))
        [(id_,)] = await cursor.fetchall()
        await connection.execute(statements.PROVE_LIFE, (statements.PROCESS_CLASS, id_))
        await connection.execute(statements.LISTEN)
    return int(id_)


async def _fetch(
    connection: psycopg.AsyncConnection[Any], statement: str, parameters: tuple[Any, ...]
) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(statement, parameters)
    return await cursor.fetchall() if cursor.description else []


async def _answer_in_time(
    call: Coroutine[Any, Any, Result], give_up: Callable[[], object], seconds: float | None = None
) -> Result:
    """The result of a call of the server. Raises TimeoutError if there is none in time; `give_up` then makes it fail.

    A call that is cancelled would go on waiting for a server that hangs.
    """
    calling = asyncio.ensure_future(call)
    try:
        await asyncio.wait({calling}, timeout=CHECK_TIMEOUT if seconds is None else seconds)
    except asyncio.CancelledError:
        await asyncio.wait({calling}, timeout=CHECK_TIMEOUT)
        await _end_call(calling, give_up)
        raise
    if await _end_call(calling, give_up):
        raise TimeoutError
    return calling.result()


async def _end_call(calling: asyncio.Future[Any], give_up: Callable[[], object]) -> bool:
    """Make a call fail that has no answer yet; whether that was so."""
    has_no_answer = not calling.done()
    if has_no_answer:
        give_up()
        await asyncio.wait({calling})
    calling.exception()  # who does not raise it has no use for it
    return has_no_answer


def _lease_topic(name: str) -> str:
    return f"lease {name}"
