"""Statements of the bot's tables, whatever their database."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.storage.sql.database import SqlDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.storage.sql.connection import Connection

log = structlog.get_logger(__name__)
NO_LIMIT = 2**62  # of rows
Parsed = TypeVar("Parsed")
Row = tuple[Any, ...]


class Database(SqlDatabase):
    """A write is durable when it returns; a read sees all committed writes. Several statements are a `write`."""

    @abstractmethod
    async def compact(self) -> None:
        """Free the bytes of deleted rows."""

    async def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        return await self.read(fetch, sql, parameters)

    async def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of a query."""
        return next(iter(await self.fetch_all(sql, parameters)), None)

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement in its own transaction; returns its rows."""
        return await self.write(fetch, sql, parameters)

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters, all in one transaction."""
        await self.write(_execute_many, sql, list(rows))

    async def execute_all(self, *statements: tuple[str, Sequence[Any]]) -> None:
        """Run statements with their parameters in one transaction."""
        await self.write(_execute_all, statements)

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Delete all rows of a workspace except opt-outs."""
        of_workspace = [
            (f"DELETE FROM {table} WHERE platform = ? AND workspace = ?", (platform, workspace))
            for table in (
                *("channel", "answer", "answer_correction", "daily_usage", "shown_hint", "digest", "watch"),
                *("verified_answer", "expert", "expert_request", "audit_person", "contradiction"),
                *("contradiction_search", "contradiction_notice", "contradiction_off", "manager_report"),
            )
        ]
        of_rooms = [
            (f"DELETE FROM {table} WHERE substr(room, 1, length(?1)) = ?1", (f"{platform}:{workspace}:",))
            for table in (
                *("channel_settings", "backfill_cursor", "message", "tombstone", "conversation", "file"),
                *("unread_file", "watch_candidate", "watch_notice"),
            )
        ]
        of_space = (
            "DELETE FROM correction_change WHERE substr(space, 1, length(?1)) = ?1",
            (f"{platform}:{workspace}:",),
        )
        await self.execute_all(*of_workspace, *of_rooms, of_space)


def parse_rows(rows: Iterable[Row], parse: Callable[[Row], Parsed]) -> list[Parsed]:
    """What the rows hold; a row that cannot be read, such as one of a later version, does not hide the others.

    Only for what is shown: what is deleted or replaced must not skip any row.
    """
    parsed = list[Parsed]()
    for row in rows:
        try:
            parsed.append(parse(row))
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
            log.warning("store.row_unreadable", kind=parse.__name__, row=str(row[0]), error=type(error).__name__)
    return parsed


def fetch(db: Connection, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """Run one statement; returns its rows."""
    return db.execute_fetchall(sql, parameters)


def _execute_many(db: Connection, sql: str, rows: Sequence[Sequence[Any]]) -> None:
    db.executemany(sql, rows)


def _execute_all(db: Connection, statements: Iterable[tuple[str, Sequence[Any]]]) -> None:
    for sql, parameters in statements:
        db.execute(sql, parameters)
