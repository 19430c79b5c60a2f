"""Probes of programs that run for long: served at once, or as soon as whoever has their port leaves it."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.web.app import build_app
from bot.capabilities.requests import AtSpace, CheckHealth, ListDocuments, OperationRequest
from bot.capabilities.results import DocumentList, OperationResult
from bot.capabilities.sources.requests import AddSource
from bot.errors import BadSetting
from bot.monitoring import port
from bot.monitoring.health import ServerHealth, ServerState
from bot.monitoring.metrics import Metrics
from bot.rpc import monitored_session
from bot.rpc import socket as local
from bot.rpc.monitored_session import open_monitored_session
from bot.settings import Settings, load_settings
from engine.clock import SYSTEM_CLOCK
from engine.storage.disk import Disk
from tests.support.engine_fixture import wait_until
from tests.support.patience import PATIENCE
from tests.support.town.slack import find_free_port


class EmptyService:
    """Performs requests without results."""

    async def perform(self, _: OperationRequest) -> AsyncGenerator[OperationResult]:
        for result in list[OperationResult]():
            yield result


def is_free(number: int) -> bool:
    """Whether nothing listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", number)) != 0


@pytest.fixture
def monitored(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a port that is free; what waits for it tries often."""
    monkeypatch.setattr(port, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(port, "GIVE_WAY_SECONDS", 0.2)
    monkeypatch.setattr(monitored_session, "CHECK_SECONDS", 0.01)
    monkeypatch.setenv("THREADLORE_MONITORING_PORT", str(find_free_port()))
    return load_settings()


async def fetch_health(settings: Settings) -> dict[str, Any]:
    """What the process that has the port says."""
    async with httpx.AsyncClient() as client:
        found = await client.get(f"http://127.0.0.1:{settings.monitoring_port}/healthz")
        return dict(found.json())


async def test_a_program_beside_another_one_says_that_it_serves_no_probes_until_the_port_is_free(
    monitored: Settings,
) -> None:
    with socket.create_server(("127.0.0.1", monitored.monitoring_port)) as other:
        async with open_monitored_session(monitored, SYSTEM_CLOCK, lazily=True) as (session, health):
            assert await session.list_obstacles() == []
            found = await health.describe()
            assert (found.status, found.is_ready) == ("degraded", True)
            assert str(monitored.monitoring_port) in found.reasons[0]
            other.close()
            await wait_until(lambda: not health.metrics.unserved)
            assert await fetch_health(monitored) == {"status": "ok", "reasons": []}


async def test_a_bot_serves_its_probes_once_a_program_leaves_the_port(monitored: Settings) -> None:
    health = ServerHealth(Metrics(SYSTEM_CLOCK))
    health.become_ready()
    with socket.create_server(("127.0.0.1", monitored.monitoring_port)) as other:
        async with port.serving_probes((monitored.monitoring_host, monitored.monitoring_port), health):
            assert (await health.describe()).status == "degraded"
            other.close()
            await wait_until(lambda: not health.metrics.unserved)
            assert await fetch_health(monitored) == {"status": "ok", "reasons": []}


async def test_a_process_that_comes_to_hold_the_data_directory_gets_the_port(monitored: Settings) -> None:
    bot = ServerHealth(Metrics(SYSTEM_CLOCK), ServerState.STANDING_BY)
    async with open_monitored_session(monitored, SYSTEM_CLOCK, lazily=True) as (_, health):
        async with port.serving_probes((monitored.monitoring_host, monitored.monitoring_port), bot):
            assert bot.metrics.unserved
            async with local.serve_socket(monitored.data_path, EmptyService().perform):
                await wait_until(lambda: not bot.metrics.unserved)
                assert (await fetch_health(monitored))["status"] == "standing by"
                await wait_until(lambda: bool(health.metrics.unserved))
        await wait_until(lambda: not health.metrics.unserved)
        assert (await fetch_health(monitored))["status"] == "ok"


async def test_a_port_that_nobody_else_wants_is_served_again(monitored: Settings) -> None:
    async with open_monitored_session(monitored, SYSTEM_CLOCK, lazily=True):
        async with local.serve_socket(monitored.data_path, EmptyService().perform):
            await wait_until(lambda: is_free(monitored.monitoring_port))
        await wait_until(lambda: not is_free(monitored.monitoring_port))


@pytest.mark.parametrize("host", ["127.0.0.300", "192.0.2.1", "a..b"])
async def test_an_address_that_this_machine_does_not_have_ends_a_program(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THREADLORE_MONITORING_PORT", "8999")
    monkeypatch.setenv("THREADLORE_MONITORING_HOST", host)
    with pytest.raises(BadSetting, match="THREADLORE_MONITORING_HOST"):
        async with open_monitored_session(load_settings(), SYSTEM_CLOCK, lazily=True):
            raise AssertionError("it was opened")


async def test_a_page_without_a_bot_reads_sources_when_they_are_due(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path / "data")
    (tmp_path / "town").mkdir()
    added = AddSource(str(tmp_path / "town"), confirmed=True)
    async with open_monitored_session(settings, SYSTEM_CLOCK) as (session, _):
        assert [each async for each in session.perform(AtSpace("console:local", added))]
    (tmp_path / "town" / "ferry.md").write_text("The ferry leaves at noon.")
    with closing(sqlite3.connect(tmp_path / "data" / "bot.db")) as db:
        db.execute("UPDATE source SET due_at = 0")
        db.commit()
    async with open_monitored_session(settings, SYSTEM_CLOCK) as (session, _):

        async def count() -> int:
            listed = session.perform(AtSpace("console:local", ListDocuments()))
            return sum([len(each.documents) async for each in listed if isinstance(each, DocumentList)])

        async with asyncio.timeout(PATIENCE):
            while not await count():  # noqa: ASYNC110 - of another task
                await asyncio.sleep(0.05)


async def test_a_page_on_a_read_only_disk_says_so_in_its_health(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    async with open_monitored_session(settings, SYSTEM_CLOCK):
        pass
    monkeypatch.setattr(Disk, "find", lambda _: Disk(Path("/data"), 0, is_read_only=True))
    async with open_monitored_session(settings, SYSTEM_CLOCK) as (session, health):
        app = build_app(session, SYSTEM_CLOCK)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as browser:
            assert (await browser.get("/api/v1/health")).json() == {"status": "degraded"}
        assert "disk at /data is read-only" in str((await health.describe()).reasons)
        [found] = [each async for each in session.perform(CheckHealth())]
        assert "disk at /data is read-only" in str(found)
