"""The process that calls models, from the side of who asks it: requests with numbers, and what comes of each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import structlog

from engine.errors import Unavailable
from engine.llm.client import codec
from engine.llm.client.protocol import OURS
from engine.process.child_path import child_path
from engine.process.ipc import framed, taken

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.llm.client.codec import Frame
    from engine.llm.client.protocol import Parameters

log = structlog.get_logger(__name__)

GRACE = 5.0  # seconds for the process to end by itself


class Child:
    """One such process, from its start to its end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Queue[Frame]] = {}
        self._told: list[bytes] = []
        self._ended = False
        self._hearing = asyncio.create_task(self._hear(), name="model calls")

    @classmethod
    async def start(cls) -> Self:
        """A fresh one, in our environment but for our own settings: litellm reads the keys of providers there.

        Raises Unavailable if the system has no room for it.
        """
        environment: dict[str, Any] = {k: v for k, v in os.environ.items() if not k.upper().startswith(OURS)}
        environment["PYTHONPATH"] = child_path()
        pipe = asyncio.subprocess.PIPE
        words = (sys.executable, "-P", "-m", "engine.llm.client.subprocess_main")
        try:
            return cls(
                await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, env=environment, limit=1 << 20)
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Unavailable(f"The process that calls the models cannot be started: {reason}.") from error

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._ended

    async def frames(self, what: str, parameters: Parameters) -> AsyncGenerator[Frame]:
        """What comes of a request, up to its end; leaving before takes the request back. Raises LanguageError."""
        number, heard = next(self._numbers), asyncio.Queue[codec.Frame]()
        self._waiting[number] = heard
        self._tell({"number": number, "what": what, "parameters": parameters})
        over = not self.alive
        if over:
            heard.put_nowait(codec.of_error(_died()))
        try:
            while True:
                frame = await heard.get()
                over = frame.pop("end", False) or "error" in frame
                if "error" in frame:
                    raise codec.error(frame)
                if frame:
                    yield frame
                if over:
                    return
        finally:
            self._waiting.pop(number, None)
            if not over:
                self._tell({"number": number, "what": "cancel"})

    async def end(self) -> None:
        """Let it come to its end; who still waits for something is told."""
        if self._process.stdin:
            self._process.stdin.close()
        await self._gone(GRACE)
        await self._hearing

    async def _gone(self, grace: float) -> None:
        """Wait for the process to end; kill it after `grace` seconds.

        One that has ended is not killed: that would fetch its exit status, for which asyncio's own watcher waits.
        """
        try:
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def _tell(self, frame: Frame) -> None:
        """Send it, together with what else is told in this turn of the loop: a write lets other threads in."""
        if not self._told:
            asyncio.get_running_loop().call_soon(self._send)
        self._told.append(framed(json.dumps(frame).encode()))

    def _send(self) -> None:
        told, self._told = self._told, []
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(b"".join(told))

    async def _hear(self) -> None:
        """Hand on what the process tells, until it ends or makes no sense; who waits then is told so."""
        grace = 0.0
        try:
            while self._process.stdout is not None:
                frame: Frame = json.loads(await taken(self._process.stdout))
                if heard := self._waiting.get(frame.pop("number")):
                    heard.put_nowait(frame)
        except (EOFError, ConnectionError) as error:
            log.info("model_process_ended", error=type(error).__name__)
            grace = GRACE
        except asyncio.CancelledError:  # nobody waits for it any more
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            raise
        except Exception:
            log.exception("model_process_unreadable")
        finally:
            self._ended = True
            for heard in self._waiting.values():
                heard.put_nowait(codec.of_error(_died()))
        await self._gone(grace)


def _died() -> Unavailable:
    return Unavailable("The process that calls the models has ended unexpectedly.")
