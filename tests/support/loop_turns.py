"""How long single turns of the event loop take, in processor time of its thread, whatever else the machine does."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(slots=True)
class LoopTurns:
    """The longest turn so far in seconds, and what ran in it."""

    longest: float = 0.0
    culprit: str = ""


async def measure_turns(work: Coroutine[Any, Any, object]) -> LoopTurns:
    """Do some work, and measure each callback and each step of a task; nothing else of the loop runs meanwhile."""
    turns, run = LoopTurns(), asyncio.Handle._run

    def measure(handle: asyncio.Handle) -> None:
        started = time.thread_time()
        try:
            run(handle)
        finally:
            spent = time.thread_time() - started
            if spent > turns.longest:
                turns.longest, turns.culprit = spent, repr(handle)

    gc.disable()  # to search what other tests left for garbage is no work of this loop
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asyncio.Handle, "_run", measure)
            await asyncio.create_task(work)  # a task of its own: the turn of the caller began before
    finally:
        gc.enable()
    return turns
