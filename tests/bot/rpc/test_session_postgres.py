"""What a program that runs for long does while its PostgreSQL server does not do what it should."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from bot.capabilities.access.requests import CreateToken
from bot.capabilities.requests import AddFact, Ask, AtSpace, Authorized, CheckHealth, OperationRequest
from bot.capabilities.results import AnswerEnd, ContextResult, OperationResult, TokenCreated
from bot.monitoring import probes
from bot.monitoring.health import NO_ANSWER
from bot.monitoring.metrics import Metrics
from bot.monitoring.report import HealthState
from bot.rpc import lifecycle
from bot.rpc.session import ServiceSession, open_session
from bot.settings import Settings
from bot.store import Subject
from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseLost, DatabaseReadOnly
from engine.storage.postgres import process_registry
from engine.storage.postgres.process_statements import PROCESS_CLASS
from tests.support.engine_fixture import wait_until
from tests.support.patience import PATIENCE
from tests.support.town.live_bot import ISOLATED

OTHERS = "datname = current_database() AND pid <> pg_backend_pid()"
END_ALL = f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {OTHERS}"
# Who proves that a process lives keeps its connection.
END_OTHERS = f"{END_ALL} AND pid NOT IN (SELECT pid FROM pg_locks WHERE classid = {PROCESS_CLASS})"
WHO = Ask("Who is Ada?")
ABOUT_ADA = AtSpace("here", WHO)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_registry, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(lifecycle, "LEAVE_SECONDS", PATIENCE)  # it would end the tests


def administer(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        for statement in statements:
            admin.execute(statement.encode())


async def perform(service: ServiceSession, request: OperationRequest) -> list[OperationResult]:
    async with asyncio.timeout(PATIENCE):
        return [event async for event in service.perform(request)]


@asynccontextmanager
async def open_filled(home: Path, url: str) -> AsyncIterator[ServiceSession]:
    """A session on a database that knows who Ada is."""
    settings = Settings(data_dir=home, database=SecretStr(url), **ISOLATED)
    async with open_session(settings, SYSTEM_CLOCK, Metrics(SYSTEM_CLOCK)) as service:
        await perform(service, AtSpace("here", AddFact("Ada", "She counts the boats in the harbor.")))
        yield service


def set_read_only(url: str) -> None:
    """Let the server take no changes of this database, and end its connections but those that prove a process."""
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    administer(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on", END_OTHERS)


async def find_health(service: ServiceSession) -> HealthState:
    [found] = await perform(service, CheckHealth())
    assert isinstance(found, HealthState)
    return found


async def service_if_open(session: ServiceSession) -> object:
    """The service; None while it is not opened again, which takes a busy machine longer than a question waits."""
    try:
        return await session.wait_until_open()
    except DatabaseLost:
        return None


@pytest.mark.long
async def test_after_a_cut_of_all_connections_questions_are_answered_again(tmp_path: Path, postgres_url: str) -> None:
    async with open_filled(tmp_path, postgres_url) as service:
        first = await service.wait_until_open()
        administer(postgres_url, END_ALL)
        async with asyncio.timeout(PATIENCE):
            while await service_if_open(service) in {first, None}:  # noqa: ASYNC110 - there is no event for it
                await asyncio.sleep(0.05)
        [found] = await perform(service, AtSpace("here", Ask("Ada", output="context")))
        assert isinstance(found, ContextResult)
        assert not found.context.is_empty
        assert (await find_health(service)).is_ready


@contextmanager
def hanging(url: str) -> Iterator[None]:
    """The server accepts no connection meanwhile, and its processes that serve this database do nothing."""
    with psycopg.connect(url, autocommit=True) as admin:
        [[postmaster]] = admin.execute("SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)::integer")
        serving = admin.execute(f"SELECT pid FROM pg_stat_activity WHERE {OTHERS}".encode())
        stopped = [postmaster, *(pid for (pid,) in serving)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@pytest.mark.long
async def test_a_server_that_hangs_is_told_and_left_and_then_questions_are_answered_again(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PROBE_SECONDS", 0.3)
    monkeypatch.setattr(process_registry, "CHECK_TIMEOUT", 1.0)
    async with open_filled(tmp_path, postgres_url) as service:
        first = await service.wait_until_open()
        with hanging(postgres_url):
            found = await find_health(service)
            assert (found.status, found.is_ready) == ("degraded", False)
            assert NO_ANSWER in found.reasons
            await wait_until(lambda: service._service is not first)
        *_, end = await perform(service, ABOUT_ADA)
        assert isinstance(end, AnswerEnd)
        assert end.sources
        assert (await find_health(service)).is_ready


@pytest.mark.long
async def test_a_read_only_server_answers_questions_and_refuses_changes_until_it_is_writable(
    tmp_path: Path, postgres_url: str
) -> None:
    async with open_filled(tmp_path, postgres_url) as service:
        first = await service.wait_until_open()
        creating = CreateToken("t", Subject(space="here"), ("ask",), 2)
        [created] = await perform(service, creating)
        assert isinstance(created, TokenCreated)
        name = psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
        set_read_only(postgres_url)
        for asked in (ABOUT_ADA, Authorized(created.text, WHO), Authorized(created.text, WHO)):
            *_, end = await perform(service, asked)
            assert isinstance(end, AnswerEnd)
            assert end.sources
        with pytest.raises(DatabaseReadOnly) as refused:
            await perform(service, AtSpace("here", AddFact("Bob", "He paints the boats.")))
        assert "primary" in refused.value.hint
        administer(
            postgres_url, "BEGIN READ WRITE", f"ALTER DATABASE {name} RESET default_transaction_read_only", "COMMIT"
        )
        administer(postgres_url, END_OTHERS)
        await perform(service, AtSpace("here", AddFact("Bob", "He paints the boats.")))
        assert await service.wait_until_open() is first


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_start_on_a_read_only_server_ends_with_a_sentence(
    tmp_path: Path, postgres_url: str, *, is_new: bool
) -> None:
    if not is_new:
        async with open_filled(tmp_path, postgres_url):
            pass
    set_read_only(postgres_url)
    with pytest.raises(DatabaseReadOnly, match="takes no changes"):
        async with open_filled(tmp_path, postgres_url):
            raise AssertionError("it was opened")
