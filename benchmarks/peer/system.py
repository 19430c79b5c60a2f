"""A system under measurement: its runner process, which is commanded by JSON lines."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peer.vectors import MAX_LINE
from benchmarks.plumbing import disk_mib, resident_mib

STOP_TIMEOUT = 120.0  # seconds


class RunnerFailed(RuntimeError):
    """A runner process reported an error or ended."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a command; `seconds` leaves out `waited`, the seconds for `computed` new vectors."""

    result: Any
    seconds: float
    processor: float
    waited: float
    computed: int


@dataclass(slots=True)
class System:
    """A runner process of a Python environment; `home` is its data folder, `log` takes its stderr."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    home: Path
    log: Path
    _process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self.environment,
                cwd=self.home.parent,
                limit=MAX_LINE,
            )

    async def call(self, command: str, **arguments: Any) -> Reply:
        """Run one command; raises RunnerFailed with what the process says of its failure."""
        process = self._running
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with suppress(ConnectionError):  # the process has ended: there is no reply
            process.stdin.write(json.dumps({"command": command, **arguments}).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        reply: dict[str, Any] = json.loads(line) if line else {"error": "the process ended"}
        if "error" in reply:
            raise RunnerFailed(f"{self.name}, {command}: {reply['error']} (see {self.log})")
        return Reply(**reply | {"seconds": reply["seconds"] - reply["waited"]})

    async def restart(self, **first_question: Any) -> float:
        """Stop and start the process; seconds from its start to its answer to a question."""
        await self.stop()
        began = time.perf_counter()
        await self.start()
        await self.call("retrieve", **first_question)
        return time.perf_counter() - began

    async def stop(self) -> None:
        """End the process by closing its stdin, and by force if it does not end."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), STOP_TIMEOUT)
        except TimeoutError:
            process.kill()
            await process.wait()

    @property
    def resident(self) -> float:
        """MiB of memory that the process holds now."""
        return resident_mib(self._running.pid)

    @property
    def disk(self) -> float:
        """MiB of its data folder."""
        return disk_mib(self.home)

    @property
    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RunnerFailed(f"{self.name} is not running.")
        return self._process
