"""Several bots on one database, each a process that can be killed, and what their people and the database know."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.support.town.protocol import Asked
from tests.support.town.slack import SlackTown

TIMEOUT_SECONDS = 300.0
POLL_SECONDS = 0.05
PROCESS_OF_PID = "SELECT id FROM threadlore_process.process WHERE split_part(name, ':', 2) = %s"
COUNT_UNFINISHED = "SELECT COUNT(*) FROM threadlore_bot.event WHERE state = 'waiting'"
COUNT_UNINDEXED = "SELECT COUNT(*) FROM threadlore_ledger.document WHERE status = 'pending'"
LIST_PASSAGES = (
    "SELECT d.key, p.key FROM threadlore_ledger.passage p JOIN threadlore_ledger.document d ON d.id = p.document"
    " WHERE d.kind = 'conversation' ORDER BY d.key, p.position, p.sort_time, p.key"
)
LIST_FILES = "SELECT title FROM threadlore_ledger.document WHERE kind = 'file' ORDER BY title"


@dataclass
class BotCluster:
    """`threadlore serve` a few times on the database at `url`. `take_overs`: seconds from each kill to its reaping."""

    town: SlackTown
    url: str
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    processes: dict[int, asyncio.subprocess.Process] = field(default_factory=dict)
    take_overs: list[float] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def environment(self, place: int) -> dict[str, str]:
        own = {
            "DATA_DIR": str(self.folder / f"bot{place}"),
            "DATABASE": self.url,
            "QUESTIONS_PER_MINUTE": "1000",
            "MEMBERSHIP_CACHE_SECONDS": "60",
        }
        given = own | self.town.adapter_settings | self.settings
        return os.environ | {f"THREADLORE_{name.upper()}": value for name, value in given.items()}

    async def start(self, *places: int) -> None:
        """Start processes, and wait until each has a connection to the platform."""
        count = len(self.processes) + len(places)
        for place in places:
            with (self.folder / f"bot{place}.log").open("ab") as log:
                self.processes[place] = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "bot", "serve", env=self.environment(place), stdout=log, stderr=log
                )
        await self.wait_for(lambda: len(self.town.slack.socket.ready) >= count)

    async def kill(self, place: int) -> None:
        """End a process as a power failure does; the time until its work is free is measured meanwhile."""
        process = self.processes.pop(place)
        process.kill()
        began = time.monotonic()
        await process.wait()
        task = asyncio.create_task(self._measure_take_over(process.pid, began))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _measure_take_over(self, pid: int, began: float) -> None:
        await self.wait_for_row(PROCESS_OF_PID, (str(pid),), lambda rows: not rows)
        self.take_overs.append(time.monotonic() - began)

    async def terminate(self, place: int) -> int:
        """End a process as a signal does; gives its exit code."""
        process = self.processes.pop(place)
        process.terminate()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await process.wait()

    async def run(self, *words: str) -> tuple[int, str]:
        """A command beside one of the processes; gives its exit code and what it prints."""
        place = next(iter(self.processes), 0)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *words),
            env=self.environment(place),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        return process.returncode or 0, out.decode()

    # Waiting.

    async def wait_for(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not holds():
                for place, process in self.processes.items():
                    if process.returncode is not None:
                        raise AssertionError(f"bot{place} ended: {self.read_log(place)[-2000:]}")
                await asyncio.sleep(POLL_SECONDS)

    async def wait_for_row(
        self, sql: str, parameters: Sequence[Any] = (), holds: Callable[[list[Any]], object] = bool
    ) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not holds(await self.select(sql, parameters)):  # noqa: ASYNC110 - the database has no event for it
                await asyncio.sleep(POLL_SECONDS)

    async def wait_until_idle(self) -> None:
        """Wait until all events are handled, and all documents can be found."""
        await self.town.slack.wait_until_delivered(TIMEOUT_SECONDS)
        for sql in (COUNT_UNFINISHED, COUNT_UNINDEXED):
            await self.wait_for_row(sql, (), lambda rows: rows == [(0,)])
        if self._tasks:
            await asyncio.gather(*self._tasks)

    async def select(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            return await (await connection.execute(sql, parameters)).fetchall()

    def read_log(self, place: int) -> str:
        return (self.folder / f"bot{place}.log").read_text(errors="replace")

    # What is seen, and what is known.

    def count_answers(self, asked: Asked) -> list[bool]:
        """For each post of the bot below a question, whether it is a complete answer."""
        return [post.is_complete for post in self.town.posts(asked)]

    async def list_passages(self) -> list[tuple[str, str]]:
        """The messages of all conversations with their documents, in reading order."""
        return [(document, message) for document, message in await self.select(LIST_PASSAGES)]

    async def close(self) -> None:
        for place in list(self.processes):
            process = self.processes.pop(place)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def open_cluster(town: SlackTown, url: str, folder: Path, **settings: str) -> AsyncIterator[BotCluster]:
    """No process yet in a town; all are killed when left."""
    async with town:
        cluster = BotCluster(town, url, folder, settings)
        try:
            yield cluster
        finally:
            await cluster.close()
