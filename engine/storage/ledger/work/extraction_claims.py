"""Claims of chunks that a process extracts; only a database that several processes share has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.sql.connection import Dialect
from engine.storage.sql.lists import id_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.sql.connection import Connection


async def claim_chunks(db: Connection, ids: Collection[int], process: int) -> set[int]:
    """Claim chunks for extraction; returns those that were free.

    A chunk is not free while another process extracts the same text: its facts can be copied afterwards.
    """
    if db.dialect is Dialect.SQLITE:
        return set(ids)
    rows = await db.execute_fetchall(
        "INSERT INTO extraction_claim (chunk, process) SELECT c.id, ?2 FROM json_each(?1) j"
        " CROSS JOIN chunk c ON c.id = j.value"
        f" WHERE c.extraction IS NULL AND {free_text_clause(db, process)}"
        " ON CONFLICT (chunk) DO UPDATE SET process = excluded.process"
        " WHERE extraction_claim.process = excluded.process RETURNING chunk",
        (id_list(sorted(ids)), process),
    )
    return {row[0] for row in rows}


async def release_chunks(db: Connection, ids: Collection[int]) -> None:
    """Free chunks that were claimed for extraction."""
    if db.dialect is Dialect.POSTGRES:
        await db.execute(
            "DELETE FROM extraction_claim WHERE chunk IN (SELECT value FROM json_each(?))", (id_list(ids),)
        )


def free_text_clause(db: Connection, process: int) -> str:
    """A condition: no process but this one extracts the text of the chunk `c`."""
    if db.dialect is Dialect.SQLITE:
        return "true"
    return (
        "NOT EXISTS (SELECT 1 FROM extraction_claim k JOIN chunk o ON o.id = k.chunk"
        f" WHERE k.process <> {process:d} AND o.text_hash = c.text_hash)"
    )
