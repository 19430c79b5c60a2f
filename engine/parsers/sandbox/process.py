"""The reader's side of one worker process: start it, ask it, kill it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from typing import TYPE_CHECKING

from engine.errors import BadInput, Broken, TooLarge
from engine.parsers.sandbox import protocol
from engine.process.child_path import child_path
from engine.process.ipc import PREFIX, framed

if TYPE_CHECKING:
    from engine.parsers.base import Limits, Read

# A worker is replaced after so many files, so that what a parser leaks stays small.
_FILES = 200
# The marks of an allocation that failed in Rust, C++ or Python.
_NO_MEMORY = (b"memory allocation of", b"bad_alloc", b"MemoryError", b"out of memory", b"Cannot allocate memory")
# The longest that one character and its share of a passage's frame become in JSON.
_BYTES_A_CHARACTER = 12
_TAIL = 4096


class Process:
    """One worker, started when it is first needed and again after it has died. One file at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: asyncio.subprocess.Process | None = None
        self._files = 0
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  - lives as long as the worker

    @property
    def pid(self) -> int | None:
        """The process id while one runs."""
        return self._child.pid if self._child else None

    async def read(self, name: str, data: bytes) -> Read:
        """Have the file read. Raises what the worker raised; TooLarge beyond time or memory; Broken on a crash."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                payload = await self._ask(name, data)
        except TimeoutError as error:
            await self.kill()
            raise TooLarge(f"{name} took longer than {self._limits.seconds:g} seconds to read.") from error
        except (EOFError, ConnectionError) as error:
            raise await self._post_mortem(name) from error
        except BaseException:
            # The answer would come to the next question.
            await self.kill()
            raise
        if self._files >= _FILES:
            await self.kill()
        try:
            return protocol.decode(payload)
        except (ValueError, KeyError, TypeError) as error:  # the parser has been taken over, or its memory is damaged
            await self.kill()
            raise Broken(f"{name} made its parser answer nonsense.") from error

    async def kill(self) -> int | None:
        """End the process at once. Returns its exit status, None if there was none."""
        child, self._child, self._files = self._child, None, 0
        if child is None:
            return None
        if child.returncode is None:
            child.kill()
        if child.stdin:
            child.stdin.close()
        return await child.wait()

    async def close(self) -> None:
        """End the process and give its files back."""
        await self.kill()
        self._complaints.close()

    async def _ask(self, name: str, data: bytes) -> bytes:
        if self._child is None or self._child.returncode is not None:
            await self.kill()
            self._child = await self._start()
        pipe_in, pipe_out = self._child.stdin, self._child.stdout
        if pipe_in is None or pipe_out is None:
            raise ConnectionError("the worker has no pipes")
        self._files += 1
        pipe_in.write(framed(name.encode("utf-8", "replace")))
        pipe_in.write(framed(data))
        await pipe_in.drain()
        size = int.from_bytes(await pipe_out.readexactly(PREFIX), "big")
        if size > _BYTES_A_CHARACTER * self._limits.text + _TAIL * _TAIL:
            raise ConnectionError("the worker speaks out of turn")
        return await pipe_out.readexactly(size)

    async def _start(self) -> asyncio.subprocess.Process:
        """A fresh worker. It is given no environment: the keys in ours are none of a parser's business."""
        self._complaints.seek(0)
        self._complaints.truncate()
        environment = {
            "PYTHONPATH": child_path(),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_ARENA_MAX": "2",
            "RAYON_NUM_THREADS": "2",
            "OMP_NUM_THREADS": "1",
        }
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "engine.parsers.sandbox.worker", protocol.encode_limits(self._limits)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._complaints,
            env=environment,
            cwd=os.sep,
        )

    async def _post_mortem(self, name: str) -> BadInput:
        """Why the worker died over this file."""
        child = self._child
        status = await child.wait() if child and child.returncode is not None else await self.kill()
        await self.kill()
        self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, self._complaints.tell() - _TAIL))
        complaint = self._complaints.read()
        if any(mark in complaint for mark in _NO_MEMORY):
            return TooLarge(f"{name} needs more memory than one file may take.")
        if status is not None and sys.platform != "win32" and status == -signal.SIGXCPU:
            return TooLarge(f"{name} took too long to read.")
        return Broken(f"{name} made its parser crash.")
