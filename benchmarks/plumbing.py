"""What benchmarks share: the model server, memory and disk, medians of repeated measurements, tables."""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from psycopg_pool import AsyncConnectionPool


def parse_arguments(description: str | None, **numbers: int) -> argparse.Namespace:
    """The command line of a benchmark whose options are numbers."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="threadlore-bench-")


@asynccontextmanager
async def start_process(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A Python process until the block is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env={**os.environ, **(environment or {})}, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def start_model_server(replier: str, *options: str) -> AsyncIterator[str]:
    """The local OpenAI server as a process; gives its address. `replier` is `module:function`."""
    module = ("-m", "tests.support.openai_server", "--port", "0", "--replier", replier)
    async with start_process(*module, *options) as process:
        assert process.stdout is not None
        port = int((await process.stdout.readline()).split()[-1])
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def start_postgres() -> Iterator[str]:
    """The address of a new database on a server of its own, which waits for the disk and cleans up."""
    from tests.support.postgres_server import fresh_database, start_server  # noqa: PLC0415 - an optional package

    server = start_server(fsync="on", full_page_writes="on", autovacuum="on", shared_buffers="1GB")
    try:
        with fresh_database(server) as url:
            yield url
    finally:
        server.release()


@asynccontextmanager
async def open_postgres(connections: int = 8) -> AsyncIterator[AsyncConnectionPool]:
    """A pool of connections to the database of `start_postgres`."""
    with start_postgres() as url:
        async with AsyncConnectionPool(url, min_size=1, max_size=connections) as pool:
            yield pool


def resident_mib(*pids: int | str) -> float:
    """MiB of memory that processes hold now; this one is "self"."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * resource.getpagesize() / 2**20


def disk_mib(folder: Path) -> float:
    """MiB of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


async def milliseconds(work: Awaitable[object], clock: Callable[[], float] = time.perf_counter) -> float:
    since = clock()
    await work
    return (clock() - since) * 1000


def print_spread(name: str, times: Sequence[float], *, worst: str = "p95") -> None:
    """A table row of milliseconds: median, and the 95th percentile or the maximum."""
    other = statistics.quantiles(times, n=20)[-1] if worst == "p95" else max(times)
    print(f"| {name} | {statistics.median(times):.0f} | {other:.0f} |", flush=True)
