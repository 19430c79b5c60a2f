"""The gateway: a websocket that takes IDENTIFY or RESUME, answers heartbeats and sends events of its sessions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import secrets
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.support.discord_server.model import Intent
from tests.support.discord_server.payloads import guild_create_json, member_json, user_json

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json
    from tests.support.discord_server.world import World

HEARTBEAT_MS = 41_250
PRIVILEGED_INTENTS = Intent.MEMBERS | Intent.PRESENCES | Intent.MESSAGE_CONTENT
ABORT = -1
GUILD_EVENTS = frozenset({"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"})  # their id is the guild's


class Connection:
    """One socket; `queue` has the frames to send, and the close code at the end."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[str | int] = asyncio.Queue()

    def send(self, frame: Json) -> None:
        self.queue.put_nowait(json.dumps(frame))

    def close(self, code: int) -> None:
        self.queue.put_nowait(code)


class Session:
    """What an IDENTIFY began; lives without a connection until it is invalidated. `number` counts its events."""

    def __init__(self, intents: int, connection: Connection, shard: tuple[int, int]) -> None:
        self.id = secrets.token_hex(16)
        self.shard, self.shards = shard
        self.intents = intents
        self.connection: Connection | None = connection
        self.number = 0
        self.sent: list[tuple[int, Json]] = []

    def serves(self, guild: str | None) -> bool:
        """Whether the events of a guild, or those outside of guilds, come over this session's shard."""
        return (int(guild) >> 22) % self.shards == self.shard if guild else self.shard == 0

    def dispatch(self, name: str, data: Json) -> None:
        self.number += 1
        frame = {"op": 0, "t": name, "s": self.number, "d": data}
        self.sent.append((self.number, frame))
        if self.connection is not None:
            self.connection.send(frame)

    def resume(self, connection: Connection, after: int) -> None:
        """Go on with another connection: send what came after a number again."""
        self.connection = connection
        for _, frame in self.sent[after:]:
            connection.send(frame)
        self.dispatch("RESUMED", {})


class Sessions:
    """All sessions of the app."""

    def __init__(self) -> None:
        self.all: dict[str, Session] = {}

    def find(self, connection: Connection) -> Session | None:
        return next((session for session in self.all.values() if session.connection is connection), None)

    def emit(self, name: str, data: Any, intent: int) -> None:
        """Send an event to every session of its shard with one of these intents; 0 means all sessions."""
        guild = data.get("id" if name in GUILD_EVENTS else "guild_id") if isinstance(data, dict) else None
        for session in self.all.values():
            if session.serves(guild) and (not intent or session.intents & intent):
                session.dispatch(name, data)


class Gateway:
    """Serves sockets; counts new and resumed sessions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sessions = Sessions()
        self.connections: set[Connection] = set()
        self.identifies = 0
        self.refused_identifies = 0
        self.lost_member_requests = 0  # how many of the next ones are not answered
        self.slow_guilds: set[str] = set()  # whose members are not sent
        self._identified_at: dict[int, float] = {}  # by bucket
        self.resumes = 0
        world.emit = self.sessions.emit

    @property
    def open_sessions(self) -> int:
        """How many sessions have an open socket."""
        return sum(session.connection is not None for session in self.sessions.all.values())

    @property
    def connected(self) -> bool:
        """Whether a session has an open socket."""
        return self.open_sessions > 0

    def find_connection(self, shard: int) -> Connection | None:
        """The open socket of a shard."""
        sessions = self.sessions.all.values()
        return next((session.connection for session in sessions if session.shard == shard and session.connection), None)

    def reconnect(self) -> None:
        """Op 7: the client shall reconnect and resume."""
        for connection in self.connections:
            connection.send({"op": 7, "d": None})

    def invalidate(self) -> None:
        """Op 9: the sessions are over."""
        for connection in self.connections:
            connection.send({"op": 9, "d": False})
        self.sessions.all.clear()

    def disconnect(self, code: int = ABORT) -> None:
        """Cut the sockets, or close them with a code."""
        for connection in self.connections:
            connection.close(code)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection()
        self.connections.add(connection)
        connection.send({"op": 10, "d": {"heartbeat_interval": HEARTBEAT_MS}})
        writer = asyncio.create_task(_write(request, socket, connection))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._handle_frame(message.json(), connection)
        finally:
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writer
            self.connections.discard(connection)
            if (session := self.sessions.find(connection)) is not None:
                session.connection = None
            self.world.connections_changed.set()
        return socket

    def _handle_frame(self, frame: Json, connection: Connection) -> None:
        op, data = frame["op"], frame["d"]
        if op == 1:
            connection.send({"op": 11})
        elif op in {2, 6} and data["token"] != self.world.token:
            connection.close(4004)
        elif op == 2:
            self._identify(data, connection)
        elif op == 6:
            self._resume(data, connection)
        elif op == 8 and (session := self.sessions.find(connection)) is not None:
            self._send_members(data, session)

    def _identify(self, data: Json, connection: Connection) -> None:
        intents = data["intents"]
        if intents & PRIVILEGED_INTENTS & ~self.world.privileged:
            connection.close(4014)
            return
        if self.world.requires_shards and data.get("shard", (0, 1))[1] < self.world.recommended_shards:
            connection.close(4011)
            return
        shard: tuple[int, int] = tuple(data.get("shard", (0, 1)))
        if not self._may_identify(shard[0]):
            self.refused_identifies += 1
            connection.send({"op": 9, "d": False})
            return
        self.identifies += 1
        session = Session(intents, connection, shard)
        self.sessions.all[session.id] = session
        guilds = [guild for guild in self.world.joined_guilds() if session.serves(guild.id)]
        ready: Json = {
            "v": 10,
            "user": user_json(self.world.app),
            "guilds": [{"id": guild.id, "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "shard": list(shard),
            "resume_gateway_url": self.world.base.replace("http", "ws", 1) + "/gateway/",
            "application": {"id": self.world.app.id, "flags": 0},
        }
        session.dispatch("READY", ready)
        for guild in guilds:
            if guild.available:
                session.dispatch("GUILD_CREATE", guild_create_json(guild, self.world) | {"unavailable": False})

    def _may_identify(self, shard: int) -> bool:
        """Whether enough time has passed since the last IDENTIFY of the bucket; counts the new session."""
        bucket, now = shard % self.world.max_concurrency, self.world.clock.monotonic()
        allowed_at = self._identified_at.get(bucket, -math.inf) + self.world.identify_seconds
        if now < allowed_at or self.world.sessions_left <= 0:
            return False
        self._identified_at[bucket] = now
        self.world.sessions_left -= 1
        return True

    def _resume(self, data: Json, connection: Connection) -> None:
        session = self.sessions.all.get(data["session_id"])
        if session is None:
            connection.send({"op": 9, "d": False})
            return
        self.resumes += 1
        session.resume(connection, data["seq"])

    def _send_members(self, data: Json, session: Session) -> None:
        """Op 8: all members of a guild."""
        if self.lost_member_requests:
            self.lost_member_requests -= 1
            return
        guild = self.world.guilds[str(data["guild_id"])]
        if guild.id in self.slow_guilds:
            return
        members = [member_json(member) for member in guild.members.values()]
        chunk: dict[str, Any] = {"guild_id": guild.id, "members": members, "chunk_index": 0, "chunk_count": 1}
        session.dispatch("GUILD_MEMBERS_CHUNK", chunk | {"nonce": data.get("nonce")})


async def _write(request: web.Request, socket: web.WebSocketResponse, connection: Connection) -> None:
    while isinstance(frame := await connection.queue.get(), str):
        await socket.send_str(frame)
    if frame != ABORT:
        await socket.close(code=frame)
    elif request.transport is not None:
        request.transport.abort()
