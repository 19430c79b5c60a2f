"""End a process whose event loop hangs: others take over its work, and whoever started it starts another."""

from __future__ import annotations

import asyncio
import faulthandler
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHECK_SECONDS = 5.0  # between two signs of life of the event loop


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """Exit with status 1 once the running event loop has hung for some seconds; 0 never does.

    The stacks of all threads are written to stderr: files, lines and functions, no data.
    """
    if not seconds:
        yield
        return
    showing = asyncio.ensure_future(_show_life(seconds))
    try:
        yield
    finally:
        showing.cancel()
        faulthandler.cancel_dump_traceback_later()


async def _show_life(seconds: float) -> None:
    while True:
        faulthandler.dump_traceback_later(seconds, exit=True)
        await asyncio.sleep(min(seconds / 4, MAX_CHECK_SECONDS))
