"""Questions about a process that take a bounded time, whatever hangs, and say what they did not find out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.scheduling.supervisor import describe_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

PROBE_SECONDS = 3.0


class LimitedProbe:
    """Asks for sentences about what is wrong; one question at a time, which all who ask meanwhile share.

    `unanswered`: what to say if there is no answer in time. The question then goes on, because what it waits for may
    not let it be cancelled.
    """

    def __init__(
        self, ask: Callable[[], Awaitable[Sequence[str]]], unanswered: str, seconds: float | None = None
    ) -> None:
        self._ask = ask
        self._unanswered = unanswered
        self._seconds = PROBE_SECONDS if seconds is None else seconds
        self._asking: asyncio.Task[list[str]] | None = None

    async def list_problems(self) -> list[str]:
        """The sentences; the error if asking failed."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._find())
        done, _ = await asyncio.wait({self._asking}, timeout=self._seconds)
        return self._asking.result() if done else [self._unanswered]

    async def _find(self) -> list[str]:
        try:
            return list(await self._ask())
        except Exception as error:  # noqa: BLE001 - a probe tells what is wrong, also with itself
            return [describe_error(error)]
