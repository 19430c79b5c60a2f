"""Connections of clients: their number, and the size and time of the headers that they send."""

from __future__ import annotations

import sys
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.web.admission import BUSY
from adapters.web.problems import Problem, to_response

if TYPE_CHECKING:
    import asyncio

MAX_CONNECTIONS = 1000
MAX_HEADER_BYTES = 16 * 1024
HEADER_SECONDS = 10.0  # for the headers of a request


class LimitedProtocol(H11Protocol):
    """Refuses connections beyond a number, and headers that are too large, too slow or not HTTP."""

    max_connections = MAX_CONNECTIONS
    header_seconds = HEADER_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and wait for its first request."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            self._refuse(BUSY)
        else:
            self._watch_headers()

    def data_received(self, data: bytes) -> None:
        """Read what arrived."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, or too large; called while that error is handled."""
        status = getattr(sys.exception(), "error_status_hint", 400)
        self._refuse(Problem(title=HTTPStatus(status).phrase, status=status, detail=msg))

    def _watch_headers(self) -> None:
        """Let the timer run while headers are due: before the first request, and in the middle of a later one."""
        is_due = not self.transport.is_closing() and self.conn.their_state is h11.IDLE
        if not is_due or self.timeout_keep_alive_task is not None:
            self._stop_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_seconds, self._give_up)

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _give_up(self) -> None:
        self._header_timer = None
        detail = f"The headers of a request arrive within {self.header_seconds:g} seconds."
        self._refuse(Problem(title="TooSlow", status=408, detail=detail))

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
