"""Find out what bounds parsers on this machine, by starting one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.errors import SandboxIncomplete
from engine.parsers.sandbox.pool import ParserProcess
from engine.parsers.sandbox.state import SandboxState

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

_START_SECONDS = 30.0


class SandboxProbe:
    """Knows the state of the sandbox after the first question, which takes half a second."""

    def __init__(self, limits: ParserLimits) -> None:
        self._limits = limits
        self._state: SandboxState | None = None
        self._lock = asyncio.Lock()

    async def get_state(self) -> SandboxState:
        """What bounds a parser: nothing if none can be started."""
        async with self._lock:
            if self._state is None:
                self._state = await self._start_parser()
            return self._state

    async def _start_parser(self) -> SandboxState:
        found: list[SandboxState] = []
        process = ParserProcess(self._limits, found.append)
        try:
            with suppress(SandboxIncomplete, TimeoutError, EOFError, OSError, ValueError, TypeError):
                async with asyncio.timeout(_START_SECONDS):
                    await process.start()
        finally:
            await process.close()
        return found[0] if found else SandboxState()
