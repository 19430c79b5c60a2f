"""Parse files in a pool of worker processes, never in this process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from engine.errors import DocumentTooLarge
from engine.parsers.base import ParsedFile, ParserLimits
from engine.parsers.sandbox.process import ParserProcess

if TYPE_CHECKING:
    from types import TracebackType


class FileParser:
    """`async with FileParser(limits) as parser`: a few worker processes, each started on first use."""

    def __init__(self, limits: ParserLimits | None = None) -> None:
        self.limits = limits or ParserLimits()
        self._processes: list[ParserProcess] = []
        self._idle: asyncio.LifoQueue[ParserProcess] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        self._processes = [ParserProcess(self.limits) for _ in range(self.limits.workers)]
        for process in self._processes:
            self._idle.put_nowait(process)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            await process.close()

    async def parse(self, name: str, data: bytes) -> ParsedFile:
        """Parse a file into passages, in the order of their positions; there is at least one.

        Raises an InvalidDocument: UnsupportedFormat, EmptyDocument, EncryptedFile, CorruptFile (also if its parser
        crashes) or DocumentTooLarge (bytes, time, memory, unpacked size, or text beyond the limits). A failed attempt
        leaves nothing behind.
        """
        if len(data) > self.limits.max_file_size:
            raise DocumentTooLarge(
                f"{name} has {len(data) / 2**20:.0f} MiB; {self.limits.max_file_size / 2**20:.0f} are allowed."
            )
        process = await self._idle.get()
        try:
            return await process.parse(name, data)
        finally:
            self._idle.put_nowait(process)
