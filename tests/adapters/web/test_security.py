"""A request ends with its client, and a body that does not arrive is not waited for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from adapters.web.app import build_app
from adapters.web.problems import describe
from adapters.web.security import RequestLimits
from bot.capabilities.access.requests import CheckToken
from bot.capabilities.requests import OperationRequest
from bot.capabilities.results import AnswerDelta, OperationResult
from engine.clock import SYSTEM_CLOCK
from engine.errors import DiskError, EngineError, StoreError
from tests.support.patience import PATIENCE

BODY = json.dumps({"question": "Ferry?"}).encode()


class PatientService:
    """A service whose answers begin, if at all, and do not end."""

    def __init__(self, *results: OperationResult) -> None:
        self._results = results
        self.waiting = asyncio.Event()
        self.is_closed = False

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        if isinstance(request, CheckToken):
            return
        try:
            for result in self._results:
                yield result
            self.waiting.set()
            await asyncio.Event().wait()
        finally:
            self.is_closed = True


def build_scope(path: str) -> dict[str, Any]:
    headers = [(b"authorization", b"Bearer x"), (b"content-type", b"application/json"), (b"content-length", b"22")]
    return {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}


@pytest.mark.parametrize("path", ["/api/v1/query", "/api/v1/query/stream", "/api/v1/query/data"])
@pytest.mark.parametrize("results", [(), (AnswerDelta("The ferry "),)], ids=["silent", "begun"])
async def test_the_work_ends_when_the_client_leaves(path: str, results: tuple[OperationResult, ...]) -> None:
    service = PatientService(*results)
    messages: Iterator[dict[str, Any]] = iter(
        [{"type": "http.request", "body": BODY[:5], "more_body": True}, {"type": "http.request", "body": BODY[5:]}]
    )

    async def receive() -> dict[str, Any]:
        if (message := next(messages, None)) is None:
            await service.waiting.wait()
            return {"type": "http.disconnect"}
        return message

    async def send(message: Any) -> None:
        """Send nowhere."""

    async with asyncio.timeout(PATIENCE):
        await build_app(service, SYSTEM_CLOCK)(build_scope(path), receive, send)
    assert service.is_closed


@pytest.mark.parametrize(
    ("error", "status"),
    [(EngineError("at /home/x"), 500), (DiskError("/home/x is full."), 507), (StoreError("/home/x"), 503)],
)
def test_errors_of_the_machine_keep_their_text_to_the_log(error: EngineError, status: int) -> None:
    problem = describe(error)
    assert problem.status == status
    assert "/home" not in str(problem)


async def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    limits = RequestLimits(build_app(PatientService(), SYSTEM_CLOCK), read_seconds=0.01)
    await limits(build_scope("/api/v1/query"), receive, send)
    assert sent[0]["status"] == 408
