"""The ledger: current facts with their provenance, and all text. All SQL of the engine is in this package.

Doors for the rest of the engine: this module opens a ledger, `records` holds what its topics take and return.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import StoreError
from engine.storage.ledger.content.documents import validate_document
from engine.storage.ledger.database import Ledger, compute_file_checksum, load_languages, prepare_restored_ledger
from engine.storage.ledger.store import LedgerStore, LedgerView

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.clock import Clock
    from engine.options import EngineOptions
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger.database import FtsTokenizer

MISSING_LIBRARY_HINT = "Install the extra: pip install 'threadlore[postgres]'."

__all__ = [
    "MISSING_LIBRARY_HINT",
    "Ledger",
    "LedgerStore",
    "LedgerView",
    "compute_file_checksum",
    "load_languages",
    "open_ledger",
    "prepare_restored_ledger",
    "restore_database",
    "validate_document",
]


async def open_ledger(
    place: Path | str,
    fts_tokenizer: FtsTokenizer,
    supervisor: Supervisor,
    clock: Clock,
    process: int | None = None,
    word_cache_bytes: int = 0,
) -> LedgerStore:
    """Open or create the ledger in a file, or in the PostgreSQL database with this address, as this `process`.

    `word_cache_bytes`: memory for copies of each term index of a database.
    """
    if isinstance(place, Path):
        return await Ledger.open(place, fts_tokenizer, supervisor, clock=clock)
    from engine.storage.ledger.postgres.ledger import PostgresLedger  # noqa: PLC0415 - it needs the extra `postgres`

    return await PostgresLedger.open(
        place, fts_tokenizer, supervisor, process, clock=clock, word_cache_bytes=word_cache_bytes
    )


async def restore_database(
    options: EngineOptions,
    path: Path,
    *,
    replace: bool,
    also: Callable[[Any], None],
    clock: Clock,
) -> None:
    """Fill the database of the options with a ledger file; the next engine builds graph and vectors again.

    `also` loads other tables on the connection, in the same transaction. Raises StoreError if there is data, unless
    `replace`; DatabaseInUse if any process works on the database, and CorruptLedger if the rows do not fit the tables.
    """
    try:
        from engine.storage.ledger.postgres.ledger import fill_database  # noqa: PLC0415 - it needs the extra `postgres`
    except ImportError as error:
        raise StoreError("The library for PostgreSQL is not installed.", hint=MISSING_LIBRARY_HINT) from error
    await fill_database(options, path, clock, replace=replace, also=also)
