"""MCP over HTTP: every request stands alone and brings its own access token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings

from adapters.mcp.server import build_server

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from bot.rpc.service import AdminService
    from engine import Clock


class Endpoint:
    """An ASGI application. Whoever mounts it checks origins and hosts, and limits bodies."""

    def __init__(self, service: AdminService, clock: Clock) -> None:
        self._server = build_server(service, clock, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; its work ends with it."""
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._server.streamable_http_app(stateless_http=True, transport_security=unchecked)
        manager = self._server.session_manager  # of this request alone: it holds no session
        async with manager.run():
            await manager.handle_request(scope, receive, send)
