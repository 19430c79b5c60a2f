"""A guarded server of aiohttp: nobody takes all its connections, and nothing that arrives is unpacked."""

from __future__ import annotations

import errno
import logging
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.listeners.admission import HEAD_SECONDS, Admission, TrustedProxies, to_share_key

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping

    from bot.listeners.admission import Budget

    Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

log = structlog.get_logger(__name__)

LINGER_SECONDS = 2.0  # for the rest of a body whose request was answered
MAX_HEADERS = 64
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
ADMISSION = web.RequestKey("admission", Admission[web.RequestHandler])


class GuardedServer(web.Server):
    """Answers requests by method and path, on a budget of connections.

    A connection waits for its client until its handler says by `working` that the request is complete; one that waits
    gives way to a newcomer. `auto_decompress` of aiohttp is off: a handler gets the bytes as they were sent.
    """

    def __init__(self, routes: Iterable[web.RouteDef], budget: Budget, proxies: TrustedProxies) -> None:
        super().__init__(  # type: ignore[no-untyped-call,unused-ignore]
            self._answer,
            auto_decompress=False,
            keepalive_timeout=HEAD_SECONDS,  # counts from the start of a connection, and of its last response
            lingering_time=LINGER_SECONDS,
            max_headers=MAX_HEADERS,
            access_log=None,
            logger=_RequestLog(logging.getLogger("aiohttp.server")),
        )
        self._routes: Mapping[str, Mapping[str, Any]] = _group_routes(routes)
        self._proxies = proxies
        self._admission = Admission[web.RequestHandler](budget)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Let a connection in, or another one give way to it."""
        super().connection_made(handler, transport)
        peer = (transport.get_extra_info("peername") or ("",))[0]
        key = "" if self._proxies.trusts(peer) else to_share_key(peer)
        if (leaving := self._admission.enter(handler, key)) is None:
            return
        log.warning("listener.connection_dropped", open=len(self._admission))
        if leaving is handler:
            transport.write(BUSY)
            transport.close()
        elif leaving.transport is not None:
            leaving.transport.abort()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        self._admission.leave(handler)
        super().connection_lost(handler, exc)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        request[ADMISSION] = self._admission
        if (methods := self._routes.get(request.path)) is None:
            return web.Response(status=404)
        if (handle := methods.get(request.method)) is None:
            return web.Response(status=405, headers={"Allow": ", ".join(sorted(methods))})
        response: web.StreamResponse = await handle(request)
        return response


@contextmanager
def working(request: web.BaseRequest) -> Iterator[None]:
    """Meanwhile the connection of a request does not give way to others."""
    admission = request[ADMISSION]
    admission.work(request.protocol)
    try:
        yield
    finally:
        admission.wait(request.protocol)


@asynccontextmanager
async def running(server: GuardedServer, host: str, port: int, shutdown_timeout: float) -> AsyncIterator[int]:
    """Serve at an address until the context exits; yields the port (0 lets the system choose). Raises OSError."""
    runner = web.ServerRunner(server, shutdown_timeout=shutdown_timeout)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except UnicodeError as error:  # a name that could be none of a host
            raise OSError(errno.EINVAL, f"“{host}” is no name of a host") from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _group_routes(routes: Iterable[web.RouteDef]) -> dict[str, dict[str, Any]]:
    """The handlers by path and method; what answers GET answers HEAD, too."""
    found: dict[str, dict[str, Any]] = {}
    for route in routes:
        methods = found.setdefault(route.path, {})
        methods[route.method] = route.handler
        if route.method == "GET":
            methods.setdefault("HEAD", route.handler)
    return found


class _RequestLog(logging.LoggerAdapter[logging.Logger]):
    """Logs failures of handlers; what is no HTTP is the fault of a client, and needs no traceback."""

    def exception(self, msg: object, *_: object, exc_info: Any = True, **__: Any) -> None:
        """Log a request that failed."""
        if isinstance(exc_info, HttpProcessingError):
            log.warning("listener.request_refused", reason=type(exc_info).__name__)
        else:
            log.error("listener.request_failed", message=str(msg), exc_info=exc_info)
