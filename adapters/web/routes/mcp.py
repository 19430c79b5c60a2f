"""MCP under /mcp: for programs with an access token, and for no page of another site."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers

from adapters.web.admission import FOREIGN
from adapters.web.pages.session import is_loopback_host, names_host
from adapters.web.problems import Problem, to_response
from bot.listeners.admission import bracket_host, is_proxied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from bot.rpc.service import AdminService
    from engine import Clock

PATH = "/mcp"
NO_STREAM = Problem(title="Method Not Allowed", status=405, detail="Send requests by POST; there are no sessions.")
FOREIGN_HOST = Problem.named(
    "ForeignHost",
    421,
    "On this machine the server is called localhost or 127.0.0.1.",
    hint="A proxy in front of the server must add the header X-Forwarded-For.",
)


class McpEndpoint:
    """Checks where a request comes from, and loads the MCP server with the first one."""

    def __init__(self, service: AdminService, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self._lock = asyncio.Lock()
        self._app: Any = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        problem = find_problem(scope["method"], Headers(scope=scope), (scope.get("server") or ("",))[0])
        if problem is not None:
            response = to_response(problem)
            if problem is NO_STREAM:
                response.headers["Allow"] = "POST"
            await response(scope, receive, send)
            return
        app = await self._load()
        await app(scope, receive, send)

    async def _load(self) -> Any:
        async with self._lock:
            if self._app is None:
                module: Any = await asyncio.to_thread(importlib.import_module, "adapters.mcp.server")
                self._app = module.Endpoint(self._service, self._clock)
            return self._app


def add_route(app: FastAPI, service: AdminService, clock: Clock) -> None:
    """Serve MCP from an application."""
    endpoint: Any = McpEndpoint(service, clock)
    app.add_route(PATH, endpoint, methods=["GET", "POST", "DELETE"], include_in_schema=False)


def find_problem(method: str, headers: Mapping[str, str], server: str) -> Problem | None:
    """Why a request is refused. `server`: the address at which the connection arrived."""
    host = headers.get("host", "")
    if (origin := headers.get("origin")) is not None and not names_host(origin, host):
        return FOREIGN
    is_direct = not is_proxied(headers)
    if is_direct and is_loopback_host(bracket_host(server)) and not is_loopback_host(host):
        return FOREIGN_HOST
    return None if method == "POST" else NO_STREAM
