"""Socket Mode: connections with their tickets, envelopes, acknowledgements in time, and what happens without them."""

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

    from tests.support.slack_server.clock import Clock
    from tests.support.slack_server.state import JSON

EnvelopeKind = Literal["events_api", "slash_commands", "interactive"]
MOST_CONNECTIONS = 10


@dataclass(slots=True)
class SocketLink:
    """One connection of the app."""

    ws: web.WebSocketResponse
    transport: asyncio.Transport
    is_leaving: bool = False
    pings: int = 0

    @property
    def is_open(self) -> bool:
        return not self.ws.closed and not self.transport.is_closing()


@dataclass(slots=True)
class Delivery:
    """A payload on its way: `attempts` so far, and in the end acknowledged or lost."""

    kind: EnvelopeKind
    payload: JSON
    attempts: int = 0
    acked: asyncio.Event = field(default_factory=asyncio.Event)
    reply: JSON | None = None
    lost: str = ""
    links: list[SocketLink] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return self.acked.is_set() or bool(self.lost)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: to acknowledge, before each further try of an event, between pings, until a refreshed link is shut."""

    ack: float = 3.0
    retries: tuple[float, ...] = (0.0, 60.0, 300.0)
    ping: float = 10.0
    grace: float = 10.0


class Socket:
    """All connections of the app."""

    def __init__(self, clock: Clock, timing: Timing, app_id: str, changed: Callable[[], None]) -> None:
        self.clock, self.timing, self.app_id, self.changed = clock, timing, app_id, changed
        self.links: list[SocketLink] = []
        self.deliveries: list[Delivery] = []
        self.answers_pings = True
        self.is_holding = False
        self._tickets: set[str] = set()
        self._waiting: dict[str, Delivery] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._random = random.Random(7)

    def ticket(self) -> str:
        """Good for one connection."""
        ticket = uuid4().hex
        self._tickets.add(ticket)
        return ticket

    @property
    def ready(self) -> list[SocketLink]:
        return [link for link in self.links if link.is_open and not link.is_leaving]

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """The web socket's end; a used or invented ticket is refused."""
        if request.query.get("ticket") not in self._tickets:
            return web.Response(status=408, text="ticket expired")
        self._tickets.discard(request.query["ticket"])
        ws = web.WebSocketResponse(autoping=False, autoclose=True)
        await ws.prepare(request)
        assert isinstance(request.transport, asyncio.Transport)
        link = SocketLink(ws, request.transport)
        if len(self.ready) >= MOST_CONNECTIONS:
            await ws.send_json({"type": "disconnect", "reason": "too_many_websockets", "debug_info": {}})
            await ws.close()
            return ws
        self.links.append(link)
        await ws.send_json(self._hello())
        self.changed()
        pinging = asyncio.create_task(self._ping(link))
        try:
            await self._receive(link)
        finally:
            pinging.cancel()
            self.links.remove(link)
            self.changed()
        return ws

    def _hello(self) -> JSON:
        debug = {"host": "applink-1", "build_number": 4, "approximate_connection_time": 18060}
        info = {"app_id": self.app_id}
        return {"type": "hello", "num_connections": len(self.links), "debug_info": debug, "connection_info": info}

    async def _ping(self, link: SocketLink) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            while link.is_open:
                await asyncio.sleep(self.timing.ping)
                await link.ws.ping(b"Ping from applink-1")

    async def _receive(self, link: SocketLink) -> None:
        async for message in link.ws:
            if message.type is WSMsgType.PING:
                link.pings += 1
                if self.answers_pings:
                    await link.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledge(json.loads(message.data))

    def _acknowledge(self, body: JSON) -> None:
        parcel = self._waiting.pop(str(body.get("envelope_id")), None)
        if parcel is not None:
            parcel.reply = body.get("payload")
            parcel.acked.set()
            self.changed()

    def deliver(self, kind: EnvelopeKind, payload: JSON) -> Delivery:
        """Send something on its way."""
        parcel = Delivery(kind, payload)
        self.deliveries.append(parcel)
        self._start(self._deliver_until_acked(parcel))
        return parcel

    def redeliver(self, parcel: Delivery) -> Delivery:
        """Send an event once more, as a retry."""
        again = Delivery("events_api", parcel.payload)
        self.deliveries.append(again)
        self._start(self._retry(again))
        return again

    async def _retry(self, parcel: Delivery) -> None:
        parcel.lost = await self._attempt(parcel, 1, "timeout")
        self.changed()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver_until_acked(self, parcel: Delivery) -> None:
        """Only events are tried again; a command or a click fails at once before its user's eyes."""
        reason = ""
        pauses = (0.0, *self.timing.retries) if parcel.kind == "events_api" else (0.0,)
        for attempt, pause in enumerate(pauses):
            if pause:
                await self.clock.sleep(pause)
            if parcel.acked.is_set():
                return
            reason = await self._attempt(parcel, attempt, reason)
            if not reason:
                return
        parcel.lost = reason
        self.changed()

    async def _attempt(self, parcel: Delivery, attempt: int, reason: str) -> str:
        link = await self._find_open_link()
        if link is None:
            return "connection_failed"
        envelope: dict[str, Any] = {"envelope_id": str(uuid4()), "type": parcel.kind, "payload": parcel.payload}
        envelope["accepts_response_payload"] = parcel.kind != "events_api"
        if parcel.kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": reason}
        self._waiting[envelope["envelope_id"]] = parcel
        parcel.attempts += 1
        parcel.links.append(link)
        with contextlib.suppress(ConnectionError, RuntimeError):
            await link.ws.send_json(envelope)
        return "" if await self._wait_for(parcel.acked, self.timing.ack) else "timeout"

    async def _find_open_link(self) -> SocketLink | None:
        """A connection by chance; if there is none, one that comes while an acknowledgement would still be in time."""
        until = self.clock.now() + self.timing.ack
        while self.is_holding or not self.ready:
            if self.clock.now() >= until and not self.is_holding:
                return None
            await self.clock.sleep(0.02)
        return self._random.choice(self.ready)

    async def _wait_for(self, event: asyncio.Event, seconds: float) -> bool:
        waits = {asyncio.create_task(event.wait()), asyncio.create_task(self._sleep(seconds))}
        _, late = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in late:
            wait.cancel()
        return event.is_set()

    async def _sleep(self, seconds: float) -> bool:
        await self.clock.sleep(seconds)
        return True

    async def refresh(self, reason: Literal["warning", "refresh_requested"] = "refresh_requested") -> None:
        """Ask the app to connect anew, as Slack does every few hours; the old link is shut after the grace."""
        for link in self.ready:
            link.is_leaving = reason == "refresh_requested"
            await link.ws.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}})
            if link.is_leaving:
                self._start(self._shut(link))

    async def _shut(self, link: SocketLink) -> None:
        await self.clock.sleep(self.timing.grace)
        await link.ws.close()

    def drop(self) -> None:
        """Break every connection without a word."""
        for link in list(self.links):
            link.transport.abort()

    def stop_retries(self) -> None:
        """What nobody acknowledged so far is not tried again."""
        for task in self._tasks:
            task.cancel()
        for parcel in self.deliveries:
            parcel.lost = parcel.lost or ("" if parcel.acked.is_set() else "too_late")
        self.changed()

    async def close(self) -> None:
        """Stop everything that is under way."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for link in list(self.links):
            link.transport.abort()
