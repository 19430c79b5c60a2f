"""The ledger: current facts with their provenance, and all text. All SQL of the engine is in this package.

Doors for the rest of the engine: this module opens a ledger, `api` holds its Protocols, `records` what they speak of.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.storage.ledger.content.documents import validate_document
from engine.storage.ledger.database import Ledger, compute_file_checksum, merge_log, prepare_restored_ledger

if TYPE_CHECKING:
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.ledger.api import LedgerStore
    from engine.storage.ledger.database import FtsTokenizer

__all__ = [
    "Ledger",
    "compute_file_checksum",
    "merge_log",
    "open_ledger",
    "prepare_restored_ledger",
    "validate_document",
]


async def open_ledger(
    place: Path | str, fts_tokenizer: FtsTokenizer, supervisor: Supervisor, process: int | None = None
) -> LedgerStore:
    """Open or create the ledger in a file, or in the PostgreSQL database with this address, as this `process`."""
    if isinstance(place, Path):
        return await Ledger.open(place, fts_tokenizer, supervisor)
    from engine.storage.ledger.postgres.ledger import PostgresLedger  # noqa: PLC0415 - it needs the extra `postgres`

    return await PostgresLedger.open(place, fts_tokenizer, supervisor, process)
