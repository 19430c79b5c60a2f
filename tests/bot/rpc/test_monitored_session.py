from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest

from adapters.web.app import build_app
from bot.capabilities.requests import CheckHealth
from bot.errors import BadSetting, PortInUse
from bot.monitoring.health import ServerHealth, serve_monitoring
from bot.monitoring.metrics import Metrics
from bot.rpc.monitored_session import open_monitored_session
from bot.settings import load_settings
from engine.clock import SYSTEM_CLOCK
from engine.storage.disk import Disk


async def test_a_program_beside_another_one_goes_on_without_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setenv("THREADLORE_MONITORING_PORT", str(other.getsockname()[1]))
        async with open_monitored_session(load_settings(), SYSTEM_CLOCK, lazily=True) as (session, _):
            assert await session.list_obstacles() == []


async def test_a_bot_whose_port_a_program_took_says_how_to_give_it_back() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        health = ServerHealth(Metrics(SYSTEM_CLOCK))
        with pytest.raises(PortInUse) as refused:
            async with serve_monitoring("127.0.0.1", other.getsockname()[1], health):
                raise AssertionError("it was opened")
    assert "`threadlore chat`" in refused.value.hint
    assert "THREADLORE_MONITORING_PORT=0" in refused.value.hint


@pytest.mark.parametrize("host", ["127.0.0.300", "192.0.2.1", "a..b"])
async def test_an_address_that_this_machine_does_not_have_ends_a_program(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THREADLORE_MONITORING_PORT", "8999")
    monkeypatch.setenv("THREADLORE_MONITORING_HOST", host)
    with pytest.raises(BadSetting, match="THREADLORE_MONITORING_HOST") as refused:
        async with open_monitored_session(load_settings(), SYSTEM_CLOCK, lazily=True):
            raise AssertionError("it was opened")
    assert not isinstance(refused.value, PortInUse)


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
