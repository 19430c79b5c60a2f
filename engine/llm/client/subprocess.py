"""Call models in a separate process, so that litellm's computations do not block the event loop.

The calling side: it starts the process, sends numbered requests and receives their results.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from contextlib import aclosing, asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import structlog

from engine.errors import ModelUnavailable
from engine.llm.client import protocol
from engine.llm.client.protocol import SETTINGS_PREFIX
from engine.process import child_python_path, encode_frame, read_frame_async

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from engine.llm.client.protocol import (
        CallParameters,
        ChatReply,
        EmbeddingResult,
        Frame,
        ModelTraits,
        RerankResult,
        StreamDelta,
    )

log = structlog.get_logger(__name__)

STOP_GRACE_SECONDS = 5.0  # seconds for the process to end by itself
IDLE_SECONDS = 300.0  # seconds without a call after which the process, which holds 170 MiB, is ended


class ProviderProcess:
    """One provider process, from start to end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._request_ids = count(1)
        self._pending: dict[int, asyncio.Queue[Frame]] = {}
        self._outgoing: list[bytes] = []
        self._has_ended = False
        self._receive_task = asyncio.create_task(self._receive_frames(), name="model calls")

    @classmethod
    async def start(cls) -> Self:
        """Start a process with our environment but without our own settings: litellm reads provider keys there.

        Raises ModelUnavailable if the system cannot start it.
        """
        environment: dict[str, Any] = {k: v for k, v in os.environ.items() if not k.upper().startswith(SETTINGS_PREFIX)}
        environment["PYTHONPATH"] = child_python_path()
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-P", "-m", "engine.llm.client.subprocess_main")
        try:
            return cls(
                await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=environment, limit=1 << 20)
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ModelUnavailable(f"Cannot start the process that calls models: {reason}.") from error

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it accepts requests."""
        return not self._has_ended

    async def stream_request(self, what: str, parameters: CallParameters) -> AsyncGenerator[Frame]:
        """Results of a request until its end; leaving early cancels the request. Raises ModelError."""
        number, results = next(self._request_ids), asyncio.Queue[protocol.Frame]()
        self._pending[number] = results
        self._queue_frame({"number": number, "what": what, "parameters": parameters})
        over = not self.is_alive
        if over:
            results.put_nowait(protocol.encode_error(_process_ended_error()))
        try:
            while True:
                frame = await results.get()
                over = frame.pop("end", False) or "error" in frame
                if "error" in frame:
                    raise protocol.decode_error(frame)
                if frame:
                    yield frame
                if over:
                    return
        finally:
            self._pending.pop(number, None)
            if not over:
                self._queue_frame({"number": number, "what": "cancel"})

    async def stop(self) -> None:
        """Stop the process; pending requests fail."""
        if self._process.stdin:
            self._process.stdin.close()
        await self._wait_or_kill(STOP_GRACE_SECONDS)
        await self._receive_task

    async def _wait_or_kill(self, grace: float) -> None:
        """Wait for the process to end; kill it after `grace` seconds.

        A process that has ended is not killed: that would fetch its exit status, for which asyncio's own watcher waits.
        """
        try:
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def _queue_frame(self, frame: Frame) -> None:
        """Send a frame, together with others of this turn of the event loop: each write lets other threads run."""
        if not self._outgoing:
            asyncio.get_running_loop().call_soon(self._flush_frames)
        self._outgoing.append(encode_frame(json.dumps(frame).encode()))

    def _flush_frames(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(b"".join(outgoing))

    async def _receive_frames(self) -> None:
        """Pass results on until the process ends or sends an invalid frame; then pending requests fail."""
        grace = 0.0
        try:
            while self._process.stdout is not None:
                frame: Frame = json.loads(await read_frame_async(self._process.stdout))
                if results := self._pending.get(frame.pop("number")):
                    results.put_nowait(frame)
        except (EOFError, ConnectionError) as error:
            log.info("llm.process_exited", error=type(error).__name__)
            grace = STOP_GRACE_SECONDS
        except asyncio.CancelledError:  # its caller is gone
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            raise
        except Exception:
            log.exception("llm.process_read_failed")
        finally:
            self._has_ended = True
            for results in self._pending.values():
                results.put_nowait(protocol.encode_error(_process_ended_error()))
        await self._wait_or_kill(grace)


def _process_ended_error() -> ModelUnavailable:
    return ModelUnavailable("The process that calls the models has ended unexpectedly.")


class SubprocessProvider:
    """Implements `Provider` with a `LiteLLMProvider` in another process.

    A call starts the process if there is none, or if it has crashed. After `idle_seconds` without a call it is ended.
    """

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._process: ProviderProcess | None = None
        self._start_lock = asyncio.Lock()
        self._idle_seconds = idle_seconds
        self._calls = 0  # that use the process now
        self._idle_timer: asyncio.TimerHandle | None = None
        self._endings: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Process id while one runs."""
        return self._process.pid if self._process else None

    async def preload(self) -> None:
        if self._process is not None:
            self._restart_idle_timer()
            return
        async with self._use_process() as child, aclosing(child.stream_request("ready", {})) as frames:
            async for _ in frames:
                pass

    async def close(self) -> None:
        self._stop_idle_timer()
        self._end_process()
        await asyncio.gather(*self._endings)

    async def chat(self, parameters: CallParameters) -> ChatReply:
        return protocol.decode_reply(await self._request_one("chat", parameters))

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        async with (
            self._use_process() as child,
            aclosing(child.stream_request("stream", parameters)) as frames,
        ):
            async for frame in frames:
                yield protocol.decode_delta(frame)

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        return protocol.decode_vectors(await self._request_one("embed", parameters))

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        return protocol.decode_scores(await self._request_one("rerank", parameters))

    async def describe(self, parameters: CallParameters) -> ModelTraits:
        return protocol.ModelTraits(**await self._request_one("describe", parameters))

    async def _request_one(self, what: str, parameters: CallParameters) -> Frame:
        async with self._use_process() as child, aclosing(child.stream_request(what, parameters)) as frames:
            async for frame in frames:
                return frame
        raise ModelUnavailable(f"The process that calls the models returned nothing for {what}.")

    @asynccontextmanager
    async def _use_process(self) -> AsyncIterator[ProviderProcess]:
        """The process, which is not ended within the block for being idle."""
        self._calls += 1
        self._stop_idle_timer()
        try:
            yield await self._ensure_process()
        finally:
            self._calls -= 1
            self._restart_idle_timer()

    def _restart_idle_timer(self) -> None:
        self._stop_idle_timer()
        if not self._calls:
            self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._end_process)

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _end_process(self) -> None:
        """Let go of the process, so that the next call starts another one, and end it."""
        child, self._process = self._process, None
        if child is not None:
            ending = asyncio.create_task(child.stop(), name="end of model calls")
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)

    async def _ensure_process(self) -> ProviderProcess:
        async with self._start_lock:
            if self._process is None or not self._process.is_alive:
                self._process = await ProviderProcess.start()
            return self._process
