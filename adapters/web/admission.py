"""Which requests are let in: within the share of an address, of no foreign page, with a valid token if one is needed.

Strangers, tokens and probes have budgets of their own, so none of them keeps the others out.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers
from starlette.requests import Request

from adapters.web.operations import TerminalSpace
from adapters.web.pages.errors import respond
from adapters.web.pages.session import get_address, get_page_access, is_allowed, is_api_path
from adapters.web.problems import BUSY, Problem, describe, is_internal, to_response
from bot.capabilities.access.requests import CheckToken
from bot.capabilities.access.tokens import read_bearer
from bot.errors import InvalidToken
from bot.listeners.admission import Admission, Budget, parse_host, to_share_key

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from adapters.web.operations import Access
    from bot.rpc.service import AdminService

log = structlog.get_logger(__name__)

CHECK_SECONDS = 10.0  # for the check of a token
PROBE_PATHS = frozenset({"/api/v1/health"})
OPEN_PATHS = frozenset({*PROBE_PATHS, "/api/v1/openapi.json", "/login", "/logout"})  # without a token
STATIC_PREFIX = "/static/"
BODYLESS_METHODS = frozenset({"GET", "HEAD"})  # their bodies mean nothing, and are not read
PLACE = "threadlore.place"  # the key of a request's place in its scope
FOREIGN = Problem.named(
    "ForeignOrigin",
    403,
    "This request does not come from a page of this server.",
    hint="A proxy in front of the server must pass on the header Host.",
)
NO_HOST = Problem.named("InvalidHost", 400, "The header Host names no host.")
REFUSALS = (BUSY, FOREIGN, NO_HOST)


@dataclass(frozen=True, slots=True)
class Budgets:
    """How many requests are answered at once. `checks`: whose token is being checked; shares there are of addresses."""

    probes: Budget = field(default=Budget(100, 50))
    strangers: Budget = field(default=Budget(100, 50))
    checks: Budget = field(default=Budget(100, 50))
    tokens: Budget = field(default=Budget(200, 100))


@dataclass(eq=False, slots=True)
class RequestPlace:
    """The place of a request in a budget. While its body is read, it may have to give way to a newcomer."""

    is_stranger: bool = True
    _admission: Admission[RequestPlace] | None = field(init=False, default=None)
    _reading: asyncio.Timeout | None = field(init=False, default=None)

    def enter(self, admission: Admission[RequestPlace], key: str) -> bool:
        """Move from the former budget to another one; whether there is a place in it."""
        self.leave()
        leaving = admission.enter(self, key)
        if leaving is self:
            return False
        if leaving is not None:
            leaving._give_way()  # noqa: SLF001  - one of this class
        self._admission = admission
        admission.work(self)
        return True

    def leave(self) -> None:
        """End the request."""
        if self._admission is not None:
            self._admission.leave(self)
            self._admission = None

    def start_reading(self, reading: asyncio.Timeout) -> None:
        """The client is waited for within a time limit, which ends at once if the request has to give way."""
        self._reading = reading
        if self._admission is not None:
            self._admission.wait(self)

    def stop_reading(self) -> None:
        """The request is complete."""
        self._reading = None
        if self._admission is not None:
            self._admission.work(self)

    def _give_way(self) -> None:
        self._admission = None
        if self._reading is not None:
            self._reading.reschedule(asyncio.get_running_loop().time())


@dataclass(slots=True)
class FrontDoor:
    """Lets requests in: by the share of their address, their origin, their token; then their body is read."""

    app: ASGIApp
    service: AdminService
    budgets: Budgets = field(default_factory=Budgets)
    _probes: Admission[RequestPlace] = field(init=False)
    _strangers: Admission[RequestPlace] = field(init=False)
    _checks: Admission[RequestPlace] = field(init=False)
    _tokens: Admission[RequestPlace] = field(init=False)

    def __post_init__(self) -> None:
        self._probes, self._strangers = Admission(self.budgets.probes), Admission(self.budgets.strangers)
        self._checks, self._tokens = Admission(self.budgets.checks), Admission(self.budgets.tokens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if it is let in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        http, place = Request(scope), RequestPlace()
        try:
            problem = await self._admit(http, place)
            scope[PLACE] = place
            await (self.app if problem is None else await _to_app(http, problem))(scope, receive, send)
        finally:
            place.leave()

    async def _admit(self, http: Request, place: RequestPlace) -> Problem | None:
        """Why a request is not let in."""
        path, address = http.scope["path"], to_share_key(get_address(http))
        if path in PROBE_PATHS:
            return None if place.enter(self._probes, address) else BUSY
        try:
            access = _get_access(http, path)
            unnamed = None
        except InvalidToken as error:
            access, unnamed = None, error
        if not place.enter(self._strangers if access is None else self._checks, address):
            return BUSY
        if (host := http.headers.get("host", "")) and parse_host(host) is None:
            return NO_HOST
        if not is_allowed(http.method, path, Headers(scope=http.scope)):
            return FOREIGN
        if access is None:
            return describe(unnamed) if unnamed is not None and has_body(http.scope) else None
        return await self._admit_access(place, access, address, needs_token=has_body(http.scope))

    async def _admit_access(
        self, place: RequestPlace, access: Access, address: str, *, needs_token: bool
    ) -> Problem | None:
        """Let somebody in who shows a token, or needs none; without a body the operation refuses a wrong one itself."""
        problem = await self._check(access)
        if problem is None:
            place.is_stranger = False
            return None if place.enter(self._tokens, to_token_key(access)) else BUSY
        if needs_token or problem.status != 401:
            return problem
        return None if place.enter(self._strangers, address) else BUSY

    async def _check(self, access: Access) -> Problem | None:
        """What is wrong with a token."""
        if isinstance(access, TerminalSpace):
            return None
        try:
            async with asyncio.timeout(CHECK_SECONDS), aclosing(self.service.perform(CheckToken(access))) as results:
                async for _ in results:
                    pass
        except TimeoutError:
            return BUSY
        except Exception as error:
            problem = describe(error)
            if is_internal(problem):
                log.exception("web.token_check_failed")
            return problem
        return None


async def _to_app(http: Request, problem: Problem) -> ASGIApp:
    """The response to a request that is not let in; a page only for what its visitor can mend."""
    return to_response(problem) if problem in REFUSALS else await respond(http, problem)


def get_place(scope: Scope) -> RequestPlace:
    """The place of a request; one in no budget if nothing limits how many there are."""
    place: RequestPlace | None = scope.get(PLACE)
    return place or RequestPlace(is_stranger=False)


def has_body(scope: Scope) -> bool:
    """Whether a request has a body that is read."""
    headers = Headers(scope=scope)
    is_given = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    return is_given and scope["method"] not in BODYLESS_METHODS


def _get_access(http: Request, path: str) -> Access | None:
    """The access that a request brings; None where none is needed. Raises InvalidToken if it brings none."""
    if path in OPEN_PATHS or path.startswith(STATIC_PREFIX):
        return None
    return read_bearer(http.headers) if is_api_path(path) else get_page_access(http)


def to_token_key(access: Access) -> str:
    """The key of the share that a request takes: of its token, or of all that need none."""
    return "terminal" if isinstance(access, TerminalSpace) else sha256(access.encode()).hexdigest()
