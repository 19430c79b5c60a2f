"""How a process leaves: quickly at its end, and when its work is lost within seconds, with a sentence and a status."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import sys
import threading
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from engine.errors import LOST, DatabaseLost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from engine.errors import EngineError
    from engine.scheduling.processes import Processes

LEAVE_SECONDS = 8.0  # after which a process that cannot leave by itself is ended; whoever started it starts another
EXIT_LOST = 1


async def watch_registration(processes: Processes, on_loss: Callable[[], object]) -> None:
    """Wait until others may have taken over the work of this process, because the database refuses its writes."""
    await processes.lost.wait()
    on_loss()


@asynccontextmanager
async def failing_when_lost(processes: Processes) -> AsyncIterator[None]:
    """Cancel the block once others may have taken over the work of this process. Raises DatabaseLost then."""
    error = DatabaseLost(LOST)
    try:
        async with asyncio.timeout(None) as limit:
            watching = asyncio.create_task(watch_registration(processes, partial(end_block, limit, error)))
            try:
                yield
            finally:
                watching.cancel()
    except TimeoutError:
        if limit.expired():
            raise error from None
        raise


def end_block(limit: asyncio.Timeout, error: EngineError) -> None:
    """Cancel the block of a time limit now, because of an error; the process has seconds to leave by itself."""
    end_later(error)
    limit.reschedule(asyncio.get_running_loop().time())


def end_later(error: EngineError, seconds: float | None = None) -> threading.Timer:
    """End this process after some seconds unless the timer is cancelled: a thread may wait for what never answers.

    What was acknowledged is durable, and the next start resumes the rest.
    """
    timer = threading.Timer(LEAVE_SECONDS if seconds is None else seconds, _end, (error,))
    timer.daemon = True
    timer.start()
    return timer


@contextmanager
def ending_in_time(error: EngineError, seconds: float | None = None) -> Iterator[None]:
    """End the process if the block takes too long."""
    timer = end_later(error, seconds)
    try:
        yield
    finally:
        timer.cancel()


def _end(error: EngineError) -> None:
    sys.stderr.write(f"{error} {error.hint}\n")
    sys.stderr.flush()
    os._exit(EXIT_LOST)


@contextmanager
def ending_quickly() -> Iterator[None]:
    """Let a process that leaves the block by SystemExit skip the destruction of its objects, which takes long.

    For the entry point of a program alone: the status is final, whatever is raised later. Its threads and what it
    registers with `atexit` from here on end as always, and its output is written. Close files before.
    """
    statuses: list[int] = []
    atexit.register(_end_with, statuses)  # what is registered first runs last
    try:
        yield
    except SystemExit as ended:
        if isinstance(ended.code, int):
            statuses.append(ended.code)
        raise


def _end_with(statuses: list[int]) -> None:
    """End the process with the last of these statuses, unless there is none or the output cannot be written."""
    logging.shutdown()
    with suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if statuses:
            os._exit(statuses[-1])
