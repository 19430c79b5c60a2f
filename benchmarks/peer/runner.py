"""The command loop of a runner process: one JSON object a line on stdin, one on stdout.

`{"command": NAME, …arguments}` is answered by `{"result": …, "seconds": …, "processor": …, "waited": …, "computed": …}`
or by `{"error": …}`. Whatever libraries print goes to stderr. The peer's process imports this module, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TextIO

from benchmarks.peer.vectors import MAX_LINE, CachedVectors

Handler = Callable[..., Awaitable[Any]]


def take_stdout() -> TextIO:
    """The real stdout for replies; prints of libraries are sent to stderr from now on."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


async def open_stdin() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=MAX_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def run_command(handler: Handler, arguments: Mapping[str, Any], vectors: CachedVectors) -> dict[str, Any]:
    """The handler's result and what it took; `seconds` is all of the time, `waited` the part spent on new vectors."""
    waited, computed, began = vectors.waited, vectors.computed, time.perf_counter()
    result = await handler(**arguments)
    seconds = time.perf_counter() - began
    return {
        "result": result,
        "seconds": seconds,
        "waited": vectors.waited - waited,
        "computed": vectors.computed - computed,
    }


async def serve_commands(handlers: Mapping[str, Handler], vectors: CachedVectors, replies: TextIO) -> None:
    """Answer commands, one after the other, until stdin ends.

    `processor` counts from the end of the command before, so that background work after a reply is not left out.
    """
    commands, processor = await open_stdin(), time.process_time()
    while line := await commands.readline():
        arguments = json.loads(line)
        try:
            reply = await run_command(handlers[arguments.pop("command")], arguments, vectors)
        except Exception as error:  # noqa: BLE001 - the parent process reports it and stops
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        else:
            before, processor = processor, time.process_time()
            reply["processor"] = processor - before
        print(json.dumps(reply), file=replies, flush=True)


async def time_questions(
    retrieve: Callable[[str, Mapping[str, Any]], Awaitable[list[str]]],
    vectors: CachedVectors,
    mode: str,
    questions: list[dict[str, Any]],
    rounds: int,
) -> dict[str, Any]:
    """Rankings of the documents of each question, and milliseconds of each of `rounds` rounds after a first one.

    Waiting for a vector is not counted.
    """
    rankings = [await retrieve(mode, question) for question in questions]
    times = list[float]()
    for _ in range(rounds):
        for question in questions:
            waited, began = vectors.waited, time.perf_counter()
            await retrieve(mode, question)
            times.append((time.perf_counter() - began - (vectors.waited - waited)) * 1000)
    return {"rankings": rankings, "milliseconds": times}
