"""Reader: files become passages without their parsers ever running in this process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from engine.errors import TooLarge
from engine.parsers.base import Limits, Read
from engine.parsers.sandbox.process import Process

if TYPE_CHECKING:
    from types import TracebackType


class Reader:
    """`async with Reader(limits) as reader`: a few worker processes, started when they are first needed."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._all: list[Process] = []
        self._free: asyncio.LifoQueue[Process] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        self._all = [Process(self._limits) for _ in range(self._limits.workers)]
        for process in self._all:
            self._free.put_nowait(process)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._all:
            await process.close()

    async def read(self, name: str, data: bytes) -> Read:
        """The file as passages, in the order of their positions; there is at least one.

        Raises a BadInput: Unsupported, Empty, Encrypted, Broken (a crash of its parser too) or TooLarge (bytes, time,
        memory, what an archive unfolds to, or text beyond the limits). Nothing remains of a failed attempt.
        """
        if len(data) > self._limits.size:
            raise TooLarge(f"{name} has {len(data) / 2**20:.0f} MiB; {self._limits.size / 2**20:.0f} are allowed.")
        process = await self._free.get()
        try:
            return await process.read(name, data)
        finally:
            self._free.put_nowait(process)
