"""The process that calls models: `python -m engine.llm.client.subprocess_main`, frames of JSON on its pipes.

A frame asks for something by number, or takes that back; what comes of it bears the same number. It ends when its input
does, and leaves signals that everybody gets to who started it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import aclosing
from threading import Thread
from typing import TYPE_CHECKING

from engine.errors import LanguageError, Unavailable
from engine.llm.client import codec
from engine.llm.client.litellm import Direct
from engine.memory import collect_rarely
from engine.process.ipc import framed, leave_signals, take

if TYPE_CHECKING:
    from typing import BinaryIO

    from engine.llm.client.codec import Frame
    from engine.llm.client.protocol import Parameters


class Caller:
    """Does what is asked for, all of it at once, and writes down what comes of it."""

    def __init__(self, answers: BinaryIO) -> None:
        self._direct = Direct()
        self._answers = answers
        self._told: list[bytes] = []
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def serve(self, requests: BinaryIO) -> None:
        """Until the requests end."""
        loop, asked = asyncio.get_running_loop(), asyncio.Queue[codec.Frame | None]()

        def listen() -> None:
            try:
                while (frame := take(requests)) is not None:
                    loop.call_soon_threadsafe(asked.put_nowait, json.loads(frame))
            finally:  # nobody can ask any more, whatever the reason
                loop.call_soon_threadsafe(asked.put_nowait, None)

        Thread(target=listen, daemon=True).start()
        while (frame := await asked.get()) is not None:
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        number, what = frame["number"], frame["what"]
        if what != "cancel":
            task = asyncio.create_task(self._answer(number, what, frame["parameters"]))
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number))
        elif number in self._tasks:
            self._tasks[number].cancel()

    async def _answer(self, number: int, what: str, parameters: Parameters) -> None:
        try:
            self._tell(number, {**await self._done(number, what, parameters), "end": True})
        except LanguageError as error:
            self._tell(number, codec.of_error(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, somebody waits for it
            self._tell(number, codec.of_error(Unavailable(f"A model call failed ({type(error).__name__}).")))

    async def _done(self, number: int, what: str, parameters: Parameters) -> Frame:
        """The last that is to be told; of a stream everything was told before."""
        match what:
            case "chat":
                return codec.of(await self._direct.chat(parameters))
            case "embed":
                return codec.of(await self._direct.embed(parameters))
            case "rerank":
                return codec.of(await self._direct.rerank(parameters))
            case "stream":
                async with aclosing(self._direct.stream(parameters)) as pieces:
                    async for piece in pieces:
                        self._tell(number, codec.of(piece))
            case "ready":
                await self._direct.ready()
        return {}

    def _tell(self, number: int, frame: Frame) -> None:
        """Write it down, together with what else is told in this turn of the loop: a write lets other threads in."""
        if not self._told:
            asyncio.get_running_loop().call_soon(self._write)
        self._told.append(framed(json.dumps({"number": number, **frame}).encode()))

    def _write(self) -> None:
        told, self._told = self._told, []
        self._answers.write(b"".join(told))
        self._answers.flush()


def main() -> None:
    """Serve on the standard pipes."""
    leave_signals()
    collect_rarely()
    # What a library prints must not fall between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asyncio.run(Caller(answers).serve(sys.stdin.buffer))
    os._exit(0)  # whatever a library still waits for


if __name__ == "__main__":
    main()
