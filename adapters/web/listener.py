"""The socket on which the API listens, and its server."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from adapters.web.protocol import MAX_HEADER_BYTES, ConnectionLimits, LimitedProtocol
from bot.listeners.ports import port_error

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from fastapi import FastAPI

    from bot.listeners.admission import TrustedProxies

ACCEPTED_AT_ONCE = 64  # connections, between two rounds of the event loop
MAX_PENDING = 2048  # connections in the kernel that are not accepted yet


@contextmanager
def bind(host: str, port: int) -> Iterator[socket.socket]:
    """A bound socket, closed at the end. Raises BadSetting, or PortInUse."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen()  # else another program could still take the port
        except (OSError, OverflowError, UnicodeError) as error:
            hint = "Stop the program that uses the port, or change THREADLORE_WEB_HOST or THREADLORE_WEB_PORT."
            raise port_error(f"The API cannot listen on {host}:{port}", error, hint) from error
        yield bound


class Server(uvicorn.Server):
    """A server that leaves signals to the program, and reads from those who came before it accepts many others."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept as many at once as the configuration says; further ones wait in the kernel."""
        await super().startup(sockets)
        for socket_ in sockets or ():
            socket_.listen(MAX_PENDING)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


def build_server(app: FastAPI, proxies: TrustedProxies, drain_seconds: int) -> Server:
    """A server of an application; requests that are running when it stops have so many seconds to end."""
    protocol: Any = partial(LimitedProtocol, limits=ConnectionLimits(proxies=proxies))
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=protocol,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        backlog=ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=drain_seconds,
        lifespan="off",
        ws="none",
    )
    return Server(config)


def describe_address(bound: socket.socket) -> str:
    """The address of a bound socket for a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
