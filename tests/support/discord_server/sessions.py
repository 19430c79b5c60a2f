"""Gateway sessions: what was sent to them, numbered, so that a connection that comes back gets what it missed."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import deque
from typing import TYPE_CHECKING

from tests.support.discord_server.message_payloads import mask_content

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json, Message
    from tests.support.discord_server.world import World

CONTENT = 1 << 15


class Connection:
    """One socket; frames and its end stand in line. `deaf`: it stays open, but nothing is said any more."""

    def __init__(self) -> None:
        self.line: asyncio.Queue[str | int] = asyncio.Queue()
        self.is_silent = False
        self._frames: deque[float] = deque()

    def is_flooding(self, most: int, within: float) -> bool:
        """Count a frame that came; whether there were too many of late."""
        now = time.monotonic()
        self._frames.append(now)
        while now - self._frames[0] > within:
            self._frames.popleft()
        return len(self._frames) > most

    def send(self, frame: Json) -> None:
        if not self.is_silent:
            self.line.put_nowait(json.dumps(frame))

    def close(self, code: int) -> None:
        self.line.put_nowait(code)


class Session:
    """What one IDENTIFY began; lives on without a connection until it is invalidated."""

    def __init__(self, intents: int, connection: Connection) -> None:
        self.id = secrets.token_hex(16)
        self.intents = intents
        self.connection: Connection | None = connection
        self.number = 0
        self.sent: deque[tuple[int, Json]] = deque(maxlen=5000)

    def dispatch(self, name: str, data: Json) -> None:
        self.number += 1
        frame = {"op": 0, "t": name, "s": self.number, "d": data}
        self.sent.append((self.number, frame))
        if self.connection is not None:
            self.connection.send(frame)

    def replay(self, after: int) -> None:
        """Say again what was sent after a number."""
        for number, frame in self.sent:
            if number > after and self.connection is not None:
                self.connection.send(frame)


class Sessions:
    """All sessions of the app."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.all: dict[str, Session] = {}

    def emit(self, name: str, data: Json, intent: int, *, message: Message | None = None) -> None:
        """Tell every session that asked for one of these intents; 0 goes to all."""
        for session in self.all.values():
            if intent and not session.intents & intent:
                continue
            seen = mask_content(data, self._world) if message is not None and not session.intents & CONTENT else data
            session.dispatch(name, seen)
        self._world.notify_waiters()
