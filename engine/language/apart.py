"""Models are called in a process of their own, so that what litellm computes holds nobody else up.

Requests and what comes of them go as frames of JSON over the pipes of `python -m engine.language.caller`. It is started
when it is first needed, and again after it has died; it ends when this process does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from contextlib import aclosing
from itertools import count
from typing import TYPE_CHECKING

from engine.errors import Unavailable
from engine.frames import framed, taken
from engine.language import wire

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Any

    from engine.language.provider import Parameters, Piece, Reply, Scores, Vectors

GRACE = 5.0  # seconds for the process to end by itself
OURS = "THREADLORE_"  # what the settings are called; the tokens of chat platforms are no business of a model's
DIED = "The process that calls the models has ended unexpectedly."

Frame = dict[str, "Any"]


class Apart:
    """Implements `Provider` with a `Direct` in another process."""

    def __init__(self) -> None:
        self._child: asyncio.subprocess.Process | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Queue[Frame]] = {}
        self._told: dict[asyncio.subprocess.Process, list[bytes]] = {}

    @property
    def pid(self) -> int | None:
        """The process id while one runs."""
        return self._child.pid if self._child else None

    async def ready(self) -> None:
        if self._child is None:
            async with aclosing(self._frames("ready", {})) as frames:
                async for _ in frames:
                    pass

    async def close(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if child.stdin:
            child.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await child.wait()
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        if self._hearing is not None:
            await self._hearing

    async def chat(self, parameters: Parameters) -> Reply:
        return wire.reply(await self._one("chat", parameters))

    async def stream(self, parameters: Parameters) -> AsyncGenerator[Piece]:
        async with aclosing(self._frames("stream", parameters)) as frames:
            async for frame in frames:
                yield wire.piece(frame)

    async def embed(self, parameters: Parameters) -> Vectors:
        return wire.vectors(await self._one("embed", parameters))

    async def rerank(self, parameters: Parameters) -> Scores:
        return wire.scores(await self._one("rerank", parameters))

    async def _one(self, what: str, parameters: Parameters) -> Frame:
        async with aclosing(self._frames(what, parameters)) as frames:
            async for frame in frames:
                return frame
        raise Unavailable(DIED)

    async def _frames(self, what: str, parameters: Parameters) -> AsyncGenerator[Frame]:
        """What comes of a request, up to its end; leaving before takes the request back. Raises LanguageError."""
        child = await self._running()
        number, heard = next(self._numbers), asyncio.Queue[Frame]()
        self._waiting[number] = heard
        self._tell(child, {"number": number, "what": what, "parameters": parameters})
        over = False
        try:
            while not over:
                frame = await heard.get()
                over = frame.pop("end", False) or "error" in frame
                if "error" in frame:
                    raise wire.error(frame)
                if frame:
                    yield frame
        finally:
            self._waiting.pop(number, None)
            if not over:
                self._tell(child, {"number": number, "what": "cancel"})

    def _tell(self, child: asyncio.subprocess.Process, frame: Frame) -> None:
        """Send it, together with what else is told in this turn of the loop: a write lets other threads in."""
        if child not in self._told:
            self._told[child] = []
            asyncio.get_running_loop().call_soon(self._send, child)
        self._told[child].append(framed(json.dumps(frame).encode()))

    def _send(self, child: asyncio.subprocess.Process) -> None:
        told = self._told.pop(child)
        if child.stdin is not None and not child.stdin.is_closing():
            child.stdin.write(b"".join(told))

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._child is None:
                self._child = await _started()
                self._hearing = asyncio.create_task(self._hear(self._child), name="model calls")
            return self._child

    async def _hear(self, child: asyncio.subprocess.Process) -> None:
        """Hand on what the process tells, until it ends; who waits then is told so."""
        with contextlib.suppress(EOFError, ConnectionError):
            while child.stdout is not None:
                frame: Frame = json.loads(await taken(child.stdout))
                if heard := self._waiting.get(frame.pop("number")):
                    heard.put_nowait(frame)
        if self._child is child:
            self._child = None
        for heard in self._waiting.values():
            heard.put_nowait(wire.of_error(Unavailable(DIED)))
        await child.wait()


async def _started() -> asyncio.subprocess.Process:
    """A fresh process, in our environment but for our own settings: litellm reads the keys of providers there."""
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(OURS)}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "engine.language.caller"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
        limit=1 << 20,
    )
