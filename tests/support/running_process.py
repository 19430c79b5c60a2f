"""A process that registers with a database, gets a lease, and prints its number; it ends with its input, or is killed.

Once others have taken over its work, it ends with the status LOST.

python -m tests.support.running_process ADDRESS LEASE
"""

from __future__ import annotations

import asyncio
import os
import sys

from engine.clock import SYSTEM_CLOCK
from engine.scheduling.supervisor import Supervisor
from engine.storage.postgres import process_registry
from engine.storage.postgres.process_registry import ProcessRegistry

LOST = 3


async def run(url: str, lease: str) -> None:
    async with ProcessRegistry.open(url, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK) as processes, processes.lease(lease):
        sys.stdout.write(f"{processes.id}\n")
        sys.stdout.flush()
        ending = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
        lost = asyncio.ensure_future(processes.lost.wait())
        await asyncio.wait({ending, lost}, return_when=asyncio.FIRST_COMPLETED)
        if lost.done():
            os._exit(LOST)  # the thread still reads


if __name__ == "__main__":
    process_registry.CHECK_SECONDS = 0.2
    asyncio.run(run(*sys.argv[1:]))
