from __future__ import annotations

import socket

import pytest

from bot.admin.rpc.monitored_session import open_monitored_session
from bot.errors import BadSetting, PortInUse
from bot.settings import load_settings
from engine import SYSTEM_CLOCK


async def test_a_program_beside_another_one_goes_on_without_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setenv("THREADLORE_MONITORING_PORT", str(other.getsockname()[1]))
        async with open_monitored_session(load_settings(), SYSTEM_CLOCK, lazily=True) as (session, _):
            assert await session.list_obstacles() == []


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
