"""Child processes: frames on pipes (four bytes of length, then that many bytes), stop signals, module search path."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader
    from typing import BinaryIO

LENGTH_PREFIX_BYTES = 4


def encode_frame(payload: bytes) -> bytes:
    """The payload with its length in front."""
    return len(payload).to_bytes(LENGTH_PREFIX_BYTES, "big") + payload


def read_frame(pipe: BinaryIO) -> bytes | None:
    """The next payload, or None at the end of the pipe, even within a frame."""
    head = pipe.read(LENGTH_PREFIX_BYTES)
    size = int.from_bytes(head, "big")
    payload = pipe.read(size) if len(head) == LENGTH_PREFIX_BYTES else b""
    return payload if len(head) == LENGTH_PREFIX_BYTES and len(payload) == size else None


async def read_frame_async(pipe: StreamReader) -> bytes:
    """The next payload. Raises EOFError at the end of the pipe."""
    return await pipe.readexactly(int.from_bytes(await pipe.readexactly(LENGTH_PREFIX_BYTES), "big"))


def ignore_stop_signals() -> None:
    """Ignore SIGINT and SIGTERM: the parent handles them, and the child ends with its pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def child_python_path() -> str:
    """PYTHONPATH for a child: ours without relative folders, and without the current one unless it is the program's."""
    here, own = Path.cwd(), Path(__file__).parents[1]
    kept = [path for path in sys.path if Path(path).is_absolute() and (Path(path) != here or here == own)]
    return os.pathsep.join(kept)
