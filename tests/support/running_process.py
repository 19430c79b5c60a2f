"""A process that registers with a database, gets a lease, and prints its number; it ends with its input, or is killed.

python -m tests.support.running_process ADDRESS LEASE
"""

from __future__ import annotations

import asyncio
import sys

from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres.process_registry import ProcessRegistry


async def run(url: str, lease: str) -> None:
    async with ProcessRegistry.open(url, Supervisor()) as processes, processes.lease(lease):
        sys.stdout.write(f"{processes.id}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:]))
