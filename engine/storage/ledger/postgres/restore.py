"""Restore a backup of the ledger into a database."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from engine.errors import DatabaseInUse
from engine.scheduling.supervisor import Supervisor
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.postgres.process_registry import ProcessRegistry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.clock import Clock
    from engine.options import EngineOptions
    from engine.storage.postgres.connection import Raw

ATTEMPTS = 10  # to find no other process
PAUSE_SECONDS = 0.1


async def fill_database(
    options: EngineOptions, path: Path, clock: Clock, *, replace: bool, also: Callable[[Raw], None]
) -> None:
    """Fill the database of the options with a ledger file while no other process works on it."""
    url, supervisor = options.database, Supervisor(clock)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(supervisor.stop)
        process = await _register_alone(url, supervisor, clock, stack)
        target = await PostgresLedger.open(url, options.fts_tokenizer, supervisor, process.id, clock=clock)
        stack.push_async_callback(target.close)
        await target.load_file(path, replace=replace, also=also)


async def _register_alone(url: str, supervisor: Supervisor, clock: Clock, stack: AsyncExitStack) -> ProcessRegistry:
    """Register as the only process; one that has just ended frees its lock a moment later. Raises DatabaseInUse."""
    for _ in range(ATTEMPTS - 1):
        with suppress(DatabaseInUse):
            return await stack.enter_async_context(ProcessRegistry.open(url, supervisor, clock, alone=True))
        await asyncio.sleep(PAUSE_SECONDS)
    return await stack.enter_async_context(ProcessRegistry.open(url, supervisor, clock, alone=True))
