"""Table of redactions that follow a change of the engine's documents; written before it, to survive a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.store.database import Database


class PendingRedactions:
    """Documents and messages whose answers must be redacted; `Answers.redact` removes the finished ones.

    `part_of`: the document that contains the messages.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, keys: Collection[str], part_of: str) -> None:
        """Add keys before the engine changes their documents."""
        rows = [(key, part_of) for key in sorted(keys)]
        await self._database.execute_many("INSERT OR IGNORE INTO pending_redaction VALUES (?, ?)", rows)

    async def cancel(self, keys: Collection[str], part_of: str) -> None:
        """Remove keys whose documents did not change."""
        sql = "DELETE FROM pending_redaction WHERE key = ? AND part_of = ?"
        await self._database.execute_many(sql, [(key, part_of) for key in keys])

    async def is_pending(self, key: str) -> bool:
        """Whether an earlier attempt to change a document or message was interrupted."""
        sql = "SELECT 1 FROM pending_redaction WHERE key = ? LIMIT 1"
        return await self._database.fetch_one(sql, (key,)) is not None

    async def list_all(self) -> list[tuple[str, str]]:
        """All rows as (key, part_of)."""
        rows = await self._database.fetch_all("SELECT key, part_of FROM pending_redaction ORDER BY 1, 2")
        return [(key, part_of) for key, part_of in rows]
