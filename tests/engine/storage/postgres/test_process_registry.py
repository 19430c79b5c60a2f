"""Processes on one database: registration, proof of life, take-over, leases and notifications."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from subprocess import PIPE

import psycopg
import pytest
from structlog.testing import capture_logs

from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseInUse, DatabaseLost, DatabaseUnreachable
from engine.scheduling.supervisor import Supervisor
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.postgres import connection, process_registry
from engine.storage.postgres.process_registry import ProcessRegistry
from engine.storage.postgres.process_statements import PROCESS_CLASS
from tests.support.engine_fixture import wait_until
from tests.support.patience import PATIENCE
from tests.support.running_process import LOST


@asynccontextmanager
async def registered(url: str, count: int = 2) -> AsyncIterator[list[ProcessRegistry]]:
    """Several registrations, as of several processes."""
    supervisor = Supervisor(SYSTEM_CLOCK, first_wait=0.05)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(supervisor.stop)
        yield [
            await stack.enter_async_context(ProcessRegistry.open(url, supervisor, SYSTEM_CLOCK)) for _ in range(count)
        ]


@asynccontextmanager
async def other_process(url: str, lease: str) -> AsyncIterator[asyncio.subprocess.Process]:
    command = (sys.executable, "-m", "tests.support.running_process", url, lease)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        process.id_there = int(await process.stdout.readline())  # type: ignore[attr-defined]
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def run_statement(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as admin:
        cursor = admin.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def end_connections(url: str, of: str) -> None:
    """End the connections whose last statement is like this."""
    run_statement(url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '{of}%'")


def end_proofs_of_life(url: str) -> None:
    """End the connections that prove that processes live."""
    run_statement(
        url,
        "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
        f" WHERE l.classid = {PROCESS_CLASS} AND d.datname = current_database()",
    )


async def test_processes_are_listed_until_they_leave(postgres_url: str) -> None:
    async with registered(postgres_url) as (one, two):
        assert [process.id for process in await two.list_running()] == [one.id, two.id]
        async with registered(postgres_url, 1) as [three]:
            assert three.id == two.id + 1
        assert [process.id for process in await one.list_running()] == [one.id, two.id]
        assert one.taken_over == 0
    assert run_statement(postgres_url, "SELECT * FROM threadlore_process.process") == []


@pytest.mark.long
async def test_a_killed_process_is_removed_and_its_claims_and_leases_are_free(postgres_url: str) -> None:
    run_statement(postgres_url, "SELECT 1")
    async with registered(postgres_url, 1) as [here], other_process(postgres_url, "work") as there:
        id_there = there.id_there  # type: ignore[attr-defined]
        run_statement(
            postgres_url,
            "CREATE TABLE task (claimed_by integer REFERENCES threadlore_process.process ON DELETE SET NULL);"
            f"INSERT INTO task VALUES ({id_there})",
        )
        woken = asyncio.Event()
        here.subscribe("tasks", woken.set)
        async with here.try_lease("work") as is_held:
            assert not is_held
        there.kill()
        async with asyncio.timeout(PATIENCE), here.lease("work"):
            await woken.wait()
        assert run_statement(postgres_url, "SELECT claimed_by FROM task") == [(None,)]
        assert [process.id for process in await here.list_running()] == [here.id]
        assert here.taken_over == 1


async def test_others_take_over_from_a_stopped_process_and_it_changes_nothing_more(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_registry, "REAP_SECONDS", 0.1)
    monkeypatch.setattr(process_registry, "HUNG_SECONDS", 2.0)
    async with registered(postgres_url, 1) as [one], other_process(postgres_url, "work") as other:
        other.send_signal(signal.SIGSTOP)
        async with asyncio.timeout(PATIENCE):
            async with one.lease("other work"):
                pass
            async with one.lease("work"):
                pass
        other.send_signal(signal.SIGCONT)
        async with asyncio.timeout(PATIENCE):
            assert await other.wait() == LOST
        assert (one.taken_over, one.lost.is_set()) == (1, False)


async def test_a_process_that_is_stopped_while_it_writes_holds_up_the_others_for_seconds(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHECK_PROCESS", connection.CHECK_PROCESS.replace("10s", "500ms"))
    async with registered(postgres_url) as (one, two):
        ledger = await PostgresLedger.open(postgres_url, process=one.id, clock=SYSTEM_CLOCK)
        stopped = psycopg.connect(postgres_url, **connection.connection_options("threadlore_ledger"))
        writing = connection.locked_transaction(stopped, "threadlore_ledger", two.id)
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout), writing:
            async with asyncio.timeout(PATIENCE):
                await ledger.settings.set("a", 1)
        await ledger.close()


async def test_the_writes_of_a_removed_process_fail_and_it_notices(postgres_url: str) -> None:
    async with registered(postgres_url) as (one, two):
        ledger = await PostgresLedger.open(postgres_url, process=one.id, clock=SYSTEM_CLOCK)
        await ledger.settings.set("a", 1)
        end_proofs_of_life(postgres_url)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(one.lost.wait(), two.lost.wait())
        async with registered(postgres_url, 1) as [three]:
            assert [process.id for process in await three.list_running()] == [three.id]
        with pytest.raises(DatabaseLost):
            await two.list_running()
        with pytest.raises(DatabaseLost):
            await ledger.settings.set("a", 2)
        with pytest.raises(DatabaseLost):
            async with one.lease("work"):
                pass
        await ledger.close()


@contextmanager
def hanging_server(url: str) -> Iterator[None]:
    """The server's processes for a database do not answer meanwhile."""
    found = run_statement(
        url, "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    pids = [int(str(pid)) for (pid,) in found]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


async def test_a_process_leaves_a_server_that_hangs_and_all_that_waits_for_it_fails(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_registry, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(process_registry, "CHECK_TIMEOUT", 0.5)
    async with AsyncExitStack() as stack:
        [one] = await stack.enter_async_context(registered(postgres_url, 1))
        ledger = await PostgresLedger.open(postgres_url, process=one.id, clock=SYSTEM_CLOCK)
        one.lost.on_set(ledger.abandon)
        await ledger.settings.set("a", 1)
        with hanging_server(postgres_url):
            async with asyncio.timeout(PATIENCE):
                calls = ledger.settings.get("a"), ledger.settings.set("a", 2), one.list_running()
                outcomes = await asyncio.gather(*calls, return_exceptions=True)
                assert {type(outcome) for outcome in outcomes} <= {DatabaseLost, DatabaseUnreachable, type(None)}
                with pytest.raises(DatabaseLost):
                    await ledger.settings.set("a", 3)
                assert one.lost.is_set()
                await ledger.close()
                await stack.aclose()
    again = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)
    is_acknowledged = outcomes[1] is None  # over a connection that was made meanwhile
    assert await again.settings.get("a") in ({"2"} if is_acknowledged else {"1", "2"})
    await again.close()


async def test_a_process_can_end_while_the_server_hangs(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_registry, "CHECK_TIMEOUT", 0.3)
    async with AsyncExitStack() as stack:
        [one] = await stack.enter_async_context(registered(postgres_url, 1))
        with hanging_server(postgres_url):
            listing = asyncio.create_task(one.list_running())
            await asyncio.sleep(0.05)
            listing.cancel()
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait({listing})
                await stack.aclose()


async def test_a_process_stays_registered_while_the_server_takes_no_changes(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_registry, "CHECK_SECONDS", 0.05)
    async with registered(postgres_url, 1) as [one]:
        for value, is_read_only in (("on", True), ("off", False)):
            await one._alive.execute(f"SET default_transaction_read_only = {value}".encode())
            await wait_until(lambda expected=is_read_only: one.is_read_only is expected)
        assert not one.lost.is_set()
        assert [process.id for process in await one.list_running()] == [one.id]


async def test_a_process_stays_registered_while_the_server_ends_its_statements(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_registry, "CHECK_SECONDS", 0.05)
    async with registered(postgres_url, 1) as [one]:
        await one._alive.execute(b"SET statement_timeout = 50")
        with psycopg.connect(postgres_url) as busy, capture_logs() as logged:
            busy.execute("SELECT 1 FROM threadlore_process.process FOR UPDATE")
            await wait_until(lambda: [log["error"] for log in logged].count("QueryCanceled") > 1)
        assert not one.lost.is_set()


async def test_a_process_is_not_removed_while_it_writes(postgres_url: str) -> None:
    async with registered(postgres_url, 1) as [one]:
        with psycopg.connect(postgres_url) as writing:
            writing.execute("SELECT 1 FROM threadlore_process.process WHERE id = %s FOR KEY SHARE", (one.id,))
            end_proofs_of_life(postgres_url)
            await asyncio.wait_for(one.lost.wait(), PATIENCE)
            async with registered_later(postgres_url) as opening:
                await wait_until(lambda: run_statement(postgres_url, WAITING) == [(1,)])
                assert not opening.done()
                writing.commit()
                [two] = await asyncio.wait_for(opening, PATIENCE)
                assert [process.id for process in await two.list_running()] == [two.id]


@asynccontextmanager
async def registered_later(url: str) -> AsyncIterator[asyncio.Task[list[ProcessRegistry]]]:
    """A task that registers a process, which waits for the last writes of ended ones."""
    async with AsyncExitStack() as stack:
        yield asyncio.create_task(stack.enter_async_context(registered(url, 1)))


async def test_one_task_of_one_process_holds_a_lease_and_its_end_wakes_the_next(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_registry, "LEASE_POLL_SECONDS", 10 * PATIENCE)
    holding, most = 0, 0

    async def hold(processes: ProcessRegistry) -> None:
        nonlocal holding, most
        async with processes.lease("work"):
            holding += 1
            most = max(most, holding)
            await asyncio.sleep(0.01)
            holding -= 1

    async with registered(postgres_url, 3) as processes:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(hold(process) for process in processes for _ in range(5)))
        assert most == 1
        async with processes[0].lease("shard 1"), processes[1].lease("shard 2"), processes[1].lease("work"):
            expected = {"shard 1": processes[0].id, "shard 2": processes[1].id}
            assert [await process.list_leases("shard ") for process in processes[:2]] == [expected] * 2
        async with processes[0].lease("work"), processes[1].try_lease("work") as is_held:
            assert not is_held
        async with processes[0].lease("work"), processes[0].try_lease("work") as is_held:
            assert not is_held
        async with processes[1].try_lease("work") as is_held:
            assert is_held
    assert run_statement(postgres_url, "SELECT * FROM threadlore_process.lease") == []


async def test_a_lease_is_free_after_a_cancellation(postgres_url: str) -> None:
    async with registered(postgres_url) as (one, two):
        held = asyncio.Event()

        async def hold(processes: ProcessRegistry) -> None:
            async with processes.lease("work"):
                held.set()
                await asyncio.Event().wait()

        holder = asyncio.create_task(hold(one))
        await held.wait()
        waiter = asyncio.create_task(hold(two))
        await asyncio.sleep(0.05)
        waiter.cancel()
        holder.cancel()
        await asyncio.wait([holder, waiter])
        async with asyncio.timeout(PATIENCE), two.lease("work"):
            pass


async def test_a_notification_wakes_the_subscribers_of_all_processes(postgres_url: str) -> None:
    async with registered(postgres_url) as (one, two):
        here, there, elsewhere = asyncio.Event(), asyncio.Event(), asyncio.Event()
        one.subscribe("work", here.set)
        two.subscribe("work", there.set)
        two.subscribe("other", elsewhere.set)
        one.notify("work")
        assert here.is_set()
        await asyncio.wait_for(there.wait(), PATIENCE)
        assert not elsewhere.is_set()


async def test_broken_connections_of_leases_and_notifications_are_replaced(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_registry, "REAP_SECONDS", 0.1)
    async with registered(postgres_url) as (one, two):
        woken = asyncio.Event()
        two.subscribe("work", woken.set)
        async with one.lease("work"):
            end_connections(postgres_url, "INSERT INTO lease")
        end_connections(postgres_url, "WITH ended")
        one.notify("work")
        async with asyncio.timeout(PATIENCE):
            await woken.wait()
            async with two.lease("work"):
                pass
        assert not one.lost.is_set()


async def test_a_process_that_must_be_alone_is_refused_and_refuses_others(postgres_url: str) -> None:
    supervisor = Supervisor(SYSTEM_CLOCK)
    async with registered(postgres_url, 1):
        with pytest.raises(DatabaseInUse):
            async with ProcessRegistry.open(postgres_url, supervisor, SYSTEM_CLOCK, alone=True):
                pass
    async with ProcessRegistry.open(postgres_url, supervisor, SYSTEM_CLOCK, alone=True):
        with pytest.raises(DatabaseInUse):
            async with registered(postgres_url, 1):
                pass
    await supervisor.stop()
