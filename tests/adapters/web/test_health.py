"""The API tells everybody the truth about its state, and nobody the reasons."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import httpx
import pytest

from adapters.web import problems
from adapters.web.app import build_app
from adapters.web.routes import health
from bot.capabilities.requests import CheckHealth, OperationRequest
from bot.capabilities.results import OperationResult
from bot.monitoring.report import HealthState
from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseBusy, DatabaseReadOnly, DatabaseUnreachable, StoreError, UnstorableText

SECRET = "slack:T1:board waits."
UNREACHABLE = DatabaseUnreachable(SECRET)


class StatedService:
    """Has a state, or raises an error, or hangs."""

    def __init__(self, state: HealthState | Exception | None) -> None:
        self.state = state

    async def perform(self, operation: OperationRequest) -> AsyncGenerator[OperationResult]:
        assert isinstance(operation, CheckHealth)
        if self.state is None:
            await asyncio.Event().wait()
        elif isinstance(self.state, Exception):
            raise self.state
        else:
            yield self.state


@pytest.mark.parametrize(
    ("state", "code", "status"),
    [
        (HealthState("ok"), 200, "ok"),
        (HealthState("degraded", (SECRET,)), 200, "degraded"),
        (HealthState("failing", (SECRET,)), 200, "failing"),
        (HealthState("degraded", (SECRET,), is_ready=False), 503, "unavailable"),
        (HealthState("draining", is_ready=False), 503, "draining"),
        (UNREACHABLE, 503, "unavailable"),
        (None, 503, "unavailable"),
    ],
)
async def test_everybody_learns_the_state_and_nobody_the_reasons(
    state: HealthState | Exception | None, code: int, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PROBE_SECONDS", 0.05)
    transport = httpx.ASGITransport(build_app(StatedService(state), SYSTEM_CLOCK))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/api/v1/health")
    assert (response.status_code, response.json()) == (code, {"status": status})


@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        (DatabaseReadOnly, 503, "only answers questions"),
        (DatabaseBusy, 503, "cannot be used at the moment"),
        (DatabaseUnreachable, 503, "cannot be used at the moment"),
        (UnstorableText, 422, "too long"),
    ],
)
def test_what_a_database_refuses_is_told_without_its_words(kind: type[StoreError], status: int, words: str) -> None:
    found = problems.describe(kind(SECRET))
    assert found.status == status
    assert words in found.detail
    assert SECRET not in found.model_dump_json()
