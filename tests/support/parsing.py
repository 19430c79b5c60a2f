"""Files parsed in this process: a process for it takes half a second to start, and has tests of its own."""

from __future__ import annotations

import asyncio

import pytest

from engine import ParsedFile
from engine.errors import InvalidDocument
from engine.parsers.sandbox.pool import ParserProcess
from engine.parsers.sandbox.worker import _parse_safely


async def _parse(process: ParserProcess, name: str, data: bytes) -> ParsedFile:
    parsed = await asyncio.to_thread(_parse_safely, name, data, process._limits)
    if isinstance(parsed, InvalidDocument):
        raise parsed
    return parsed


def parse_in_this_process(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ParserProcess, "parse", _parse)
