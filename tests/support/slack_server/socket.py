"""Socket Mode: connections by ticket, envelopes, and retries of events that are not acknowledged in time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tests.support.clock import ShiftedClock
    from tests.support.slack_server.request_url import RequestUrl
    from tests.support.slack_server.state import JSON

EnvelopeKind = Literal["events_api", "slash_commands", "interactive"]


@dataclass(slots=True)
class SocketLink:
    """A connection of the app."""

    ws: web.WebSocketResponse
    transport: asyncio.Transport

    @property
    def is_open(self) -> bool:
        return not self.ws.closed and not self.transport.is_closing()


@dataclass(slots=True)
class Delivery:
    """A payload that is sent until it is acknowledged or lost; `reply` came with the acknowledgement."""

    kind: EnvelopeKind
    payload: JSON
    attempts: int = 0
    acked: asyncio.Event = field(default_factory=asyncio.Event)
    reply: JSON | None = None
    lost: str = ""

    @property
    def is_done(self) -> bool:
        return self.acked.is_set() or bool(self.lost)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds to acknowledge, and before each further attempt to send an event."""

    ack: float = 3.0
    retries: tuple[float, ...] = (0.0, 60.0, 300.0)


class Socket:
    """All connections of the app, and all deliveries."""

    def __init__(self, clock: ShiftedClock, timing: Timing, changed: Callable[[], None]) -> None:
        self.clock, self.timing, self.changed = clock, timing, changed
        self.links: list[SocketLink] = []
        self.request_url: RequestUrl | None = None  # the app then has no socket
        self.deliveries: list[Delivery] = []
        self._tickets: set[str] = set()
        self._waiting: dict[str, Delivery] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.choose: Callable[[list[SocketLink]], SocketLink] = random.Random(7).choice  # who gets a delivery

    def ticket(self) -> str:
        """A ticket for one connection."""
        ticket = uuid4().hex
        self._tickets.add(ticket)
        return ticket

    @property
    def ready(self) -> list[SocketLink]:
        return [link for link in self.links if link.is_open]

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve a connection; a used or unknown ticket is refused."""
        if request.query.get("ticket") not in self._tickets:
            return web.Response(status=408, text="ticket expired")
        self._tickets.discard(request.query["ticket"])
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        assert isinstance(request.transport, asyncio.Transport)
        link = SocketLink(ws, request.transport)
        self.links.append(link)
        await ws.send_json({"type": "hello", "num_connections": len(self.links)})
        self.changed()
        try:
            async for message in ws:
                if message.type is WSMsgType.TEXT:
                    self._acknowledge(json.loads(message.data))
        finally:
            self.links.remove(link)
            self.changed()
        return ws

    def _acknowledge(self, body: JSON) -> None:
        delivery = self._waiting.pop(str(body.get("envelope_id")), None)
        if delivery is not None:
            delivery.reply = body.get("payload")
            delivery.acked.set()
            self.changed()

    def deliver(self, kind: EnvelopeKind, payload: JSON) -> Delivery:
        """Start to send a payload. Only events are sent again; a command or a click fails at once."""
        delivery = Delivery(kind, payload)
        pauses = (0.0, *self.timing.retries) if kind == "events_api" else (0.0,)
        return self._start(delivery, self._send(delivery, pauses))

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Send an event once more, as the retry of an attempt that was not acknowledged."""
        again = Delivery("events_api", delivery.payload)
        return self._start(again, self._send(again, (0.0,), 1, "timeout"))

    def _start(self, delivery: Delivery, work: Coroutine[Any, Any, None]) -> Delivery:
        self.deliveries.append(delivery)
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return delivery

    async def _send(self, delivery: Delivery, pauses: tuple[float, ...], first: int = 0, reason: str = "") -> None:
        for attempt, pause in enumerate(pauses, first):
            if pause:
                await self.clock.sleep(pause)
            reason = "" if delivery.acked.is_set() else await self._attempt(delivery, attempt, reason)
            if not reason:
                return
        delivery.lost = reason
        self.changed()

    async def _attempt(self, delivery: Delivery, attempt: int, reason: str) -> str:
        """Send once; gives the reason why it failed, if it did."""
        if self.request_url is not None:
            return await self._post(self.request_url, delivery, attempt, reason)
        link = await self._find_open_link()
        if link is None:
            return "connection_failed"
        envelope: JSON = {"envelope_id": str(uuid4()), "type": delivery.kind, "payload": delivery.payload}
        envelope["accepts_response_payload"] = delivery.kind != "events_api"
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        self._waiting[envelope["envelope_id"]] = delivery
        delivery.attempts += 1
        with contextlib.suppress(ConnectionError, RuntimeError):
            await link.ws.send_json(envelope)
        waits = [asyncio.ensure_future(delivery.acked.wait()), asyncio.ensure_future(self.clock.sleep(self.timing.ack))]
        _, late = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in late:
            wait.cancel()
        return "" if delivery.acked.is_set() else "timeout"

    async def _post(self, url: RequestUrl, delivery: Delivery, attempt: int, reason: str) -> str:
        """Post once to the app's request URL; gives the reason why it failed, if it did."""
        delivery.attempts += 1
        failure, delivery.reply = await url.post(delivery.kind, delivery.payload, attempt, reason, self.timing.ack)
        if not failure:
            delivery.acked.set()
            self.changed()
        return failure

    async def _find_open_link(self) -> SocketLink | None:
        """Any connection; if there is none, one that opens before the acknowledgement would be late."""
        until = self.clock.time() + self.timing.ack
        while not self.ready:
            if self.clock.time() >= until:
                return None
            await self.clock.sleep(0.02)
        return self.choose(self.ready)

    def drop(self) -> None:
        """Break every connection without a close frame."""
        for link in list(self.links):
            link.transport.abort()

    def stop_retries(self) -> None:
        """Give up on everything that is not acknowledged yet."""
        for task in self._tasks:
            task.cancel()
        for delivery in self.deliveries:
            delivery.lost = delivery.lost or ("" if delivery.acked.is_set() else "too_late")
        self.changed()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.drop()
