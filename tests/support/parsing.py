"""Files parsed in this process: a process for it takes half a second to start, and has tests of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from engine.errors import InvalidDocument
from engine.parsers.base import ParsedFile
from engine.parsers.sandbox.pool import ParserProcess
from engine.parsers.sandbox.worker import parse_safely


async def _stream(process: ParserProcess, name: str, data: bytes) -> AsyncGenerator[ParsedFile]:
    for parsed in await asyncio.to_thread(lambda: list(parse_safely(name, data, process._limits))):
        if isinstance(parsed, InvalidDocument):
            raise parsed
        if parsed is not None:
            yield parsed


def parse_in_this_process(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ParserProcess, "stream", _stream)
