"""A process and its helper: frames of four bytes of length and that many bytes go over the pipes between them."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader
    from typing import BinaryIO

PREFIX = 4


def framed(payload: bytes) -> bytes:
    """The payload with its length in front."""
    return len(payload).to_bytes(PREFIX, "big") + payload


def take(pipe: BinaryIO) -> bytes | None:
    """The next payload, or None at the end of the pipe, also where that is within a frame."""
    head = pipe.read(PREFIX)
    size = int.from_bytes(head, "big")
    payload = pipe.read(size) if len(head) == PREFIX else b""
    return payload if len(head) == PREFIX and len(payload) == size else None


async def taken(pipe: StreamReader) -> bytes:
    """The next payload. Raises EOFError at the end of the pipe."""
    return await pipe.readexactly(int.from_bytes(await pipe.readexactly(PREFIX), "big"))


def leave_signals() -> None:
    """A helper ends with its pipe: an interrupt, or an end told to a whole group, is for who started it to obey."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
