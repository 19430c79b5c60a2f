"""Process that calls models: `python -m engine.llm.client.subprocess_main`, JSON frames on its pipes.

A frame starts or cancels a request by number; results have the same number. The process ends with its input and leaves
stop signals to its parent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import aclosing
from threading import Thread
from typing import TYPE_CHECKING

from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelError, ModelUnavailable
from engine.llm.client import protocol
from engine.llm.client.litellm import LiteLLMProvider
from engine.memory import raise_gc_threshold
from engine.process import encode_frame, ignore_stop_signals, read_frame

if TYPE_CHECKING:
    from typing import BinaryIO

    from engine.llm.client.protocol import CallParameters, Frame


class ProviderServer:
    """Runs all requests concurrently and writes their results."""

    def __init__(self, answers: BinaryIO) -> None:
        self._provider = LiteLLMProvider(SYSTEM_CLOCK)
        self._output = answers
        self._outgoing: list[bytes] = []
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def serve(self, requests: BinaryIO) -> None:
        """Serve until the requests end."""
        loop, frames = asyncio.get_running_loop(), asyncio.Queue[protocol.Frame | None]()

        def listen() -> None:
            try:
                while (frame := read_frame(requests)) is not None:
                    loop.call_soon_threadsafe(frames.put_nowait, json.loads(frame))
            finally:  # the pipe is closed for any reason
                loop.call_soon_threadsafe(frames.put_nowait, None)

        Thread(target=listen, daemon=True).start()
        while (frame := await frames.get()) is not None:
            self._handle_request(frame)

    def _handle_request(self, frame: Frame) -> None:
        number, what = frame["number"], frame["what"]
        if what != "cancel":
            task = asyncio.create_task(self._run_request(number, what, frame["parameters"]))
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number))
        elif number in self._tasks:
            self._tasks[number].cancel()

    async def _run_request(self, number: int, what: str, parameters: CallParameters) -> None:
        try:
            self._queue_frame(number, {**await self._call_provider(number, what, parameters), "end": True})
        except ModelError as error:
            self._queue_frame(number, protocol.encode_error(error))
        except Exception as error:  # noqa: BLE001 - a caller waits for the result of any error
            self._queue_frame(
                number, protocol.encode_error(ModelUnavailable(f"A model call failed ({type(error).__name__})."))
            )

    async def _call_provider(self, number: int, what: str, parameters: CallParameters) -> Frame:
        """The final result; the parts of a stream are sent before."""
        match what:
            case "chat":
                return protocol.encode_result(await self._provider.chat(parameters))
            case "embed":
                return protocol.encode_result(await self._provider.embed(parameters))
            case "rerank":
                return protocol.encode_result(await self._provider.rerank(parameters))
            case "describe":
                return protocol.encode_result(await self._provider.describe(parameters))
            case "stream":
                async with aclosing(self._provider.stream(parameters)) as pieces:
                    async for piece in pieces:
                        self._queue_frame(number, protocol.encode_result(piece))
            case "ready":
                await self._provider.preload()
        return {}

    def _queue_frame(self, number: int, frame: Frame) -> None:
        """Write a frame, together with others of this turn of the event loop: each write lets other threads run."""
        if not self._outgoing:
            asyncio.get_running_loop().call_soon(self._flush_frames)
        self._outgoing.append(encode_frame(json.dumps({"number": number, **frame}).encode()))

    def _flush_frames(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        self._output.write(b"".join(outgoing))
        self._output.flush()


def main() -> None:
    """Serve on the standard pipes."""
    ignore_stop_signals()
    raise_gc_threshold()
    # Output of a library must not fall between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asyncio.run(ProviderServer(answers).serve(sys.stdin.buffer))
    os._exit(0)  # tasks of libraries that still wait


if __name__ == "__main__":
    main()
