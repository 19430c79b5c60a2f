"""The socket on which the API listens, and its server."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from bot.listeners.ports import port_error

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

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
