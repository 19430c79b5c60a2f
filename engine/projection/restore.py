"""Restore a backup of the ledger into a database."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from engine.errors import StoreError
from engine.projection.storage import MISSING_LIBRARY_HINT
from engine.scheduling.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.options import EngineOptions


async def restore_database(options: EngineOptions, ledger: Path, *, replace: bool, also: Callable[[Any], None]) -> None:
    """Fill the database of the options with a ledger file; the next engine builds graph and vectors again.

    `also` loads other tables on the connection, in the same transaction. Raises StoreError if there is data, unless
    `replace`; DatabaseInUse if any process works on the database, and CorruptLedger if the rows do not fit the tables.
    """
    try:
        from engine.storage.ledger.postgres.ledger import PostgresLedger  # noqa: PLC0415 - it needs an extra
        from engine.storage.postgres.process_registry import ProcessRegistry  # noqa: PLC0415
    except ImportError as error:
        raise StoreError("The library for PostgreSQL is not installed.", hint=MISSING_LIBRARY_HINT) from error
    url, supervisor = options.database, Supervisor()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(supervisor.stop)
        process = await stack.enter_async_context(ProcessRegistry.open(url, supervisor, alone=True))
        target = await PostgresLedger.open(url, options.fts_tokenizer, supervisor, process.id)
        stack.push_async_callback(target.close)
        await target.load_file(ledger, replace=replace, also=also)
