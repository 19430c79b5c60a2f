"""Nobody who reaches the port stops it for others: not by bodies that do not arrive, nor by many requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import uvicorn

from adapters.web.admission import Budgets
from adapters.web.app import build_app
from adapters.web.pages.session import PageOptions
from adapters.web.protocol import ConnectionLimits, LimitedProtocol, Server, bind
from bot.capabilities.access.requests import CheckToken
from bot.capabilities.requests import Authorized, CheckHealth, OperationRequest
from bot.capabilities.results import OperationResult
from bot.errors import BadSetting, InvalidToken, PortInUse
from bot.listeners.admission import Budget
from bot.monitoring.report import HealthState
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import child_task
from tests.support.patience import PATIENCE
from tests.support.raw_http import holding, request, talk

ATTACKER = "127.0.0.2"
ADA, BOB = "Authorization: Bearer ada", "Authorization: Bearer bob"
HEALTH = request("GET", "/api/v1/health")
LOGIN = request("POST", "/login", "Origin: http://localhost", "Content-Length: 7", body=b"token=x")
DOCUMENTS = "/api/v1/documents"


class GatedService:
    """Knows the tokens `ada` and `bob`; a request by one of them waits until the gate is open, and then fails."""

    def __init__(self) -> None:
        self.checked: list[str] = []
        self.performed: list[str] = []
        self.gate = asyncio.Event()
        self.changed = asyncio.Condition()

    async def perform(self, operation: OperationRequest) -> AsyncGenerator[OperationResult]:
        if isinstance(operation, CheckToken):
            self.checked.append(operation.token)
            if operation.token not in {"ada", "bob"}:
                raise InvalidToken("This access token is unknown.")
        elif isinstance(operation, Authorized):
            async with self.changed:
                self.performed.append(operation.token)
                self.changed.notify_all()
            await self.gate.wait()
            raise InvalidToken("It was answered.")
        elif isinstance(operation, CheckHealth):
            yield HealthState("ok")

    async def wait_until_working(self, number: int) -> None:
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(lambda: len(self.performed) == number)


@pytest.fixture
def service() -> GatedService:
    return GatedService()


@asynccontextmanager
async def serving(service: GatedService, budgets: Budgets | None = None) -> AsyncIterator[int]:
    """The application behind its real server, with a login on this machine, too."""
    protocol: Any = partial(LimitedProtocol, limits=ConnectionLimits())
    app = build_app(service, SYSTEM_CLOCK, PageOptions("console:local", "always"), budgets=budgets)
    config = uvicorn.Config(app, log_config=None, http=protocol, lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = Server(config)
    with bind("127.0.0.1", 0) as bound:
        async with child_task(server.serve(sockets=[bound]), "server") as running:
            yield bound.getsockname()[1]
            service.gate.set()
            server.should_exit = True
            await running


def unfinished(method: str, path: str, *headers: str) -> bytes:
    return request(method, path, "Origin: http://localhost", *headers, "Content-Length: 500", body=b"t")


ATTACKS = {
    "login forms": unfinished("POST", "/login"),
    "bodies of probes": unfinished("GET", "/api/v1/health"),
    "posts to the probe": unfinished("POST", "/api/v1/health"),
    "bodies of pages": unfinished("GET", "/"),
    "logging out": unfinished("POST", "/logout"),
    "guessed tokens": unfinished("POST", "/api/v1/query", "Authorization: Bearer guess"),
    "a stolen token": unfinished("POST", "/api/v1/query", BOB),
    "an OpenAI client": unfinished("POST", "/v1/chat/completions", BOB),
    "mcp": unfinished("POST", "/mcp", BOB),
    "chunks": request("POST", "/login", "Origin: http://localhost", "Transfer-Encoding: chunked", body=b"2\r\n"),
    "heads": b"GET / HTTP/1.1\r\nHost: local",
}


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("attack", "source"), [("login forms", ATTACKER), *((attack, "127.0.0.1") for attack in ATTACKS)]
)
async def test_two_hundred_and_five_unfinished_requests_keep_nobody_out(
    service: GatedService, attack: str, source: str
) -> None:
    service.gate.set()
    async with serving(service) as port, holding(port, 205, ATTACKS[attack], source):
        assert (await talk(port, HEALTH))[0] == 200
        assert (await talk(port, LOGIN))[0] == 401
        status, text = await talk(port, request("GET", DOCUMENTS, ADA))
        assert (status, "It was answered" in text) == (401, True)
        body = b'{"question": "Ferry?"}'
        sent = request("POST", "/api/v1/query", ADA, f"Content-Length: {len(body)}", "Content-Type: application/json")
        assert "It was answered" in (await talk(port, sent + body))[1]


SMALL = Budgets(Budget(3, 3), Budget(4, 2), Budget(4, 2), Budget(4, 2))


@asynccontextmanager
async def working(service: GatedService, port: int, tokens: Sequence[str]) -> AsyncIterator[None]:
    """Requests of tokens that are being answered."""
    async with asyncio.TaskGroup() as group:
        for number, token in enumerate(tokens, 1):
            sent = request("GET", DOCUMENTS, f"Authorization: Bearer {token}")
            group.create_task(talk(port, sent))
            await service.wait_until_working(number)
        yield
        service.gate.set()


async def test_work_of_a_token_leaves_room_for_another_and_for_strangers_and_probes(service: GatedService) -> None:
    async with serving(service, SMALL) as port, working(service, port, ["ada", "ada"]):
        assert (await talk(port, request("GET", DOCUMENTS, ADA)))[0] == 503
        assert (await talk(port, HEALTH))[0] == 200
        assert (await talk(port, LOGIN))[0] == 401
        async with asyncio.TaskGroup() as group:
            group.create_task(talk(port, request("GET", DOCUMENTS, BOB)))
            await service.wait_until_working(3)
            service.gate.set()


async def test_when_all_places_of_tokens_are_taken_probes_are_answered(service: GatedService) -> None:
    async with serving(service, SMALL) as port, working(service, port, ["ada", "ada", "bob", "bob"]):
        status, text = await talk(port, request("GET", DOCUMENTS, BOB))
        assert (status, "retry-after" in text.lower()) == (503, True)
        assert (await talk(port, HEALTH))[0] == 200


async def test_a_foreign_origin_is_refused_before_its_token_is_looked_up(service: GatedService) -> None:
    sent = request(
        "POST", "/ask", "Origin: http://evil.example", "Cookie: threadlore=ada; threadlore-80=ada", "Content-Length: 1"
    )
    async with serving(service) as port:
        assert (await talk(port, sent + b"x"))[0] == 403
    assert service.checked == []


@pytest.mark.parametrize("headers", [["Authorization: Bearer guess"], []], ids=["wrong token", "no token"])
async def test_a_token_is_checked_before_a_body_is_read(service: GatedService, headers: Sequence[str]) -> None:
    async with serving(service) as port:
        assert (await talk(port, unfinished("POST", "/api/v1/query", *headers)))[0] == 401
    assert service.performed == []


async def test_a_stranger_sends_little(service: GatedService) -> None:
    sent = request("POST", "/login", "Origin: http://localhost", "Content-Length: 40000", body=b"x" * 40000)
    async with serving(service) as port:
        assert (await talk(port, sent))[0] == 413


@pytest.mark.parametrize("host", ["localhost/login?", "a@localhost", "local host", "localhost:99999"])
async def test_a_host_that_is_none_is_refused(service: GatedService, host: str) -> None:
    sent = f"GET /api/v1/documents HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
    async with serving(service) as port:
        assert (await talk(port, sent))[0] == 400


@pytest.mark.parametrize("host", ["127.0.0.300", "192.0.2.1", "a..b"])
def test_a_host_that_this_machine_does_not_have_is_named_with_its_setting(host: str) -> None:
    with pytest.raises(BadSetting, match="cannot listen on") as refused, bind(host, 0):
        raise AssertionError("it was bound")
    assert "THREADLORE_WEB_HOST" in refused.value.hint


def test_a_port_that_another_program_has_may_be_free_later() -> None:
    with bind("127.0.0.1", 0) as bound, pytest.raises(PortInUse), bind("127.0.0.1", bound.getsockname()[1]):
        raise AssertionError("it was bound")
