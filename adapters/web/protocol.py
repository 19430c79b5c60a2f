"""Where clients connect, and their connections: the number, and the size and time of what they send and read."""

from __future__ import annotations

import socket
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.web.problems import BUSY, Problem, to_response
from bot.listeners.admission import HEAD_SECONDS, Admission, TrustedProxies, plan_connections, to_share_key
from bot.listeners.ports import port_error

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Generator, Iterator

    from fastapi import FastAPI

    Phase = Literal["head", "idle", "rest", "work"]


MAX_CONNECTIONS, PART_OF_FILES = 1000, 1 / 2
MAX_HEADER_BYTES = 16 * 1024
REST_SECONDS = 5.0  # for the rest of a body whose request was answered
STALL_SECONDS = 30.0  # in which a client takes nothing of a response
ACCEPTED_AT_ONCE = 64  # connections, between two rounds of the event loop
MAX_PENDING = 2048  # connections in the kernel that are not accepted yet


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What all connections of a server share."""

    admission: Admission[LimitedProtocol] = field(
        default_factory=lambda: Admission(plan_connections(MAX_CONNECTIONS, PART_OF_FILES))
    )
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    head_seconds: float = HEAD_SECONDS
    rest_seconds: float = REST_SECONDS
    stall_seconds: float = STALL_SECONDS


class LimitedProtocol(H11Protocol):
    """Refuses headers that are too large, too slow or not HTTP; a connection that waits gives way to a newcomer.

    In the phase "head" the head of a request is due, in "idle" nothing is, in "rest" the rest of a body whose request
    was answered; in "work" a request is read or answered.
    """

    def __init__(self, *args: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = limits
        self._phase: Phase = "work"
        self._timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and wait for its first request."""
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        key = "" if self._limits.proxies.trusts(peer) else to_share_key(peer)
        leaving = self._limits.admission.enter(self, key)
        if leaving is self:
            self._refuse(BUSY)
            return
        if leaving is not None:
            leaving.give_way()
        self._follow()

    def data_received(self, data: bytes) -> None:
        """Read what arrived."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._limits.admission.leave(self)
        self._phase = "work"
        self._stop_timer()
        self._stop_stall_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give up a client that takes nothing for too long."""
        super().pause_writing()
        self._stop_stall_timer()
        self._stall_timer = self.loop.call_later(self._limits.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Let the application write again: the client has read what was sent, so it does not stall."""
        self._stop_stall_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, or too large; called while that error is handled."""
        status = getattr(sys.exception(), "error_status_hint", 400)
        self._refuse(Problem(title=HTTPStatus(status).phrase, status=status, detail=msg))

    def give_way(self) -> None:
        """Close the connection for the sake of another one."""
        if self.transport.is_closing() or self._phase == "rest":
            self.transport.abort()
        else:
            self._refuse(BUSY)

    def _follow(self) -> None:
        """Enter the phase that the connection is in now; each has a time limit of its own, or none."""
        phase = self._find_phase()
        if phase == self._phase:
            return
        self._phase = phase
        self._stop_timer()
        if phase == "work":
            self._limits.admission.work(self)
            return
        self._limits.admission.wait(self)
        if phase == "head":
            self._timer = self.loop.call_later(self._limits.head_seconds, self._give_up)
        elif phase == "rest":
            self._timer = self.loop.call_later(self._limits.rest_seconds, self.transport.abort)

    def _find_phase(self) -> Phase:
        if self.transport.is_closing():
            return "idle"
        if self.conn.their_state is h11.IDLE:
            return "head" if self.timeout_keep_alive_task is None else "idle"
        is_answered = self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE, h11.SEND_BODY}
        return "rest" if is_answered and self.conn.their_state is h11.SEND_BODY else "work"

    def _give_up(self) -> None:
        detail = f"The headers of a request arrive within {self._limits.head_seconds:g} seconds."
        self._refuse(Problem(title="TooSlow", status=408, detail=detail))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _refuse(self, problem: Problem) -> None:
        """Answer with a problem and close the connection."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            response = to_response(problem)
            headers = [*response.raw_headers, (b"connection", b"close")]
            reason = HTTPStatus(problem.status).phrase.encode()
            for event in (
                h11.Response(status_code=problem.status, headers=headers, reason=reason),
                h11.Data(data=bytes(response.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


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
