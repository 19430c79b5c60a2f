"""The gateway: a websocket that says hello, takes IDENTIFY or RESUME, answers heartbeats and tells what happens."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.support.discord_server.payloads import guild_create_json, member_json, user_json
from tests.support.discord_server.sessions import Connection, Session, Sessions

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json
    from tests.support.discord_server.world import World

GUILDS = 1 << 0
MOST_FRAMES, WITHIN = 120, 60.0
LONGEST = 4096
MEMBERS = 1 << 1
KNOWN_INTENTS = (1 << 26) - 1
ABORT = -1


class Gateway:
    """Serves sockets. `heartbeat` in seconds; `identifies` counts sessions begun, of 1,000 a day."""

    def __init__(self, world: World, heartbeat: float = 41.25) -> None:
        self.world = world
        self.heartbeat = heartbeat
        self.sessions = Sessions(world)
        self.connections: set[Connection] = set()
        self.identifies = 0
        self.resumes = 0
        self.received: list[Json] = []
        world.emit = self.sessions.emit

    # What a test does to connections.

    @property
    def connected(self) -> bool:
        """A session is there, and its socket open."""
        return any(session.connection is not None for session in self.sessions.all.values())

    def reconnect(self) -> None:
        """Op 7: come again, and resume."""
        for connection in self.connections:
            connection.send({"op": 7, "d": None})

    def invalidate(self, *, resumable: bool = False) -> None:
        """Op 9: the session is over, or may be resumed."""
        for connection in self.connections:
            connection.send({"op": 9, "d": resumable})
        if not resumable:
            self.sessions.all.clear()

    def disconnect(self, code: int = ABORT) -> None:
        """Cut the sockets: without a word, or with a close code."""
        for connection in self.connections:
            connection.close(code)

    def stop_responding(self) -> None:
        """Sockets stay open, but neither heartbeats are answered nor events sent: zombies."""
        for connection in self.connections:
            connection.is_silent = True

    # The socket.

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection()
        self.connections.add(connection)
        if request.query.get("v") not in {"9", "10"} or request.query.get("encoding", "json") != "json":
            connection.close(4012)
        connection.send({"op": 10, "d": {"heartbeat_interval": int(self.heartbeat * 1000), "_trace": []}})
        writer = asyncio.create_task(self._write(request, socket, connection))
        try:
            await self._read(socket, connection)
        finally:
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writer
            self.connections.discard(connection)
            for session in self.sessions.all.values():
                if session.connection is connection:
                    session.connection = None
            self.world.notify_waiters()
        return socket

    async def _write(self, request: web.Request, socket: web.WebSocketResponse, connection: Connection) -> None:
        while True:
            frame = await connection.line.get()
            if isinstance(frame, str):
                await socket.send_str(frame)
            elif frame == ABORT:
                if request.transport is not None:
                    request.transport.abort()
                return
            else:
                await socket.close(code=frame)
                return

    async def _read(self, socket: web.WebSocketResponse, connection: Connection) -> None:
        while True:
            try:
                message = await socket.receive(timeout=self.heartbeat * 2)
            except TimeoutError:
                await socket.close(code=4009)
                return
            if message.type is not WSMsgType.TEXT:
                return
            if connection.is_flooding(MOST_FRAMES, WITHIN):
                connection.close(4008)
                continue
            frame = _parse_frame(message.data)
            if frame is None:
                connection.close(4002)
            elif not connection.is_silent:
                self.received.append(frame)
                self._handle_frame(frame, connection)
                self.world.notify_waiters()

    def _handle_frame(self, frame: Json, connection: Connection) -> None:
        op, data = frame.get("op"), frame.get("d")
        session = next((one for one in self.sessions.all.values() if one.connection is connection), None)
        if op == 1:
            connection.send({"op": 11})
        elif op == 2:
            self._identify(data, connection, session)
        elif op == 6:
            self._resume(data, connection, session)
        elif session is None:
            connection.close(4003)
        elif op == 8:
            self._members(data or {}, session)
        elif op not in {3, 4}:
            connection.close(4001)

    def _identify(self, data: Any, connection: Connection, session: Session | None) -> None:
        if session is not None:
            connection.close(4005)
            return
        if not isinstance(data, dict) or data.get("token") != self.world.token:
            connection.close(4004)
            return
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~KNOWN_INTENTS:
            connection.close(4013)
            return
        if intents & (1 << 1 | 1 << 8 | 1 << 15) & ~self.world.privileged:
            connection.close(4014)
            return
        self.identifies += 1
        session = Session(intents, connection)
        self.sessions.all[session.id] = session
        mine = [guild for guild in self.world.guilds.values() if self.world.app.id in guild.members]
        session.dispatch(
            "READY",
            {
                "v": 10,
                "user": user_json(self.world.app) | {"verified": True, "mfa_enabled": True, "email": None, "flags": 0},
                "guilds": [{"id": guild.id, "unavailable": True} for guild in mine],
                "session_id": session.id,
                "session_type": "normal",
                "resume_gateway_url": self.world.base.replace("http", "ws", 1) + "/gateway/",
                "shard": data.get("shard", [0, 1]),
                "application": {"id": self.world.app.id, "flags": app_flags(self.world)},
                "private_channels": [],
            },
        )
        for guild in mine:
            if not guild.available:
                continue
            if intents & GUILDS:
                session.dispatch("GUILD_CREATE", guild_create_json(guild, self.world))

    def _resume(self, data: Any, connection: Connection, session: Session | None) -> None:
        if session is not None:
            connection.close(4005)
            return
        if not isinstance(data, dict) or data.get("token") != self.world.token:
            connection.close(4004)
            return
        old = self.sessions.all.get(str(data.get("session_id")))
        after = data.get("seq")
        if old is None or not isinstance(after, int) or after > old.number:
            if old is not None:
                connection.close(4007)
                return
            connection.send({"op": 9, "d": False})
            return
        if old.connection is not None:
            old.connection.close(4000)
        old.connection = connection
        self.resumes += 1
        old.replay(after)
        old.dispatch("RESUMED", {"_trace": []})

    def _members(self, data: Json, session: Session) -> None:
        guild = self.world.guilds.get(str(data.get("guild_id")))
        if guild is None or self.world.app.id not in guild.members:
            return
        everybody = data.get("query") == "" and not data.get("limit")
        if everybody and not session.intents & MEMBERS:
            return
        found = list(guild.members.values())
        wanted = data.get("user_ids")
        if wanted is not None:
            ids = {str(one) for one in (wanted if isinstance(wanted, list) else [wanted])}
            found = [member for member in found if member.user.id in ids][:100]
        elif data.get("query"):
            start = str(data["query"]).lower()
            found = [member for member in found if member.user.name.lower().startswith(start)][: data.get("limit") or 1]
        pages = [found[at : at + 1000] for at in range(0, len(found), 1000)] or [[]]
        for index, page in enumerate(pages):
            chunk: Json = {
                "guild_id": guild.id,
                "members": [member_json(member) for member in page],
                "chunk_index": index,
                "chunk_count": len(pages),
            }
            if wanted is not None:
                chunk["not_found"] = sorted(ids - {member.user.id for member in found})
            if data.get("nonce"):
                chunk["nonce"] = data["nonce"]
            session.dispatch("GUILD_MEMBERS_CHUNK", chunk)


def _parse_frame(raw: str) -> Json | None:
    """A frame, or None if it is too long or no JSON."""
    try:
        frame = json.loads(raw) if len(raw) <= LONGEST else None
    except ValueError:
        return None
    return frame if isinstance(frame, dict) else None


def app_flags(world: World) -> int:
    """The application's flags: which privileged intents are switched on (for fewer than 100 guilds)."""
    pairs = ((1 << 8, 1 << 13), (1 << 1, 1 << 15), (1 << 15, 1 << 19))
    return sum(flag for intent, flag in pairs if world.privileged & intent)
