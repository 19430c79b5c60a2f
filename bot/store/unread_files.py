"""Table of files that were shared and not read, or only their beginning: what each is called, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.models import UnreadFile
from bot.store.people import is_opted_out
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.store.database import Database
    from engine import Scope
    from engine.storage.sql.connection import Connection

_COLUMNS = "key, space, room, message, upload, author, time, name, family, reason"
_IN_SCOPE = (
    "(space IN (SELECT value FROM @list(?1)) OR room IN (SELECT value FROM @list(?2))) AND (?3 = '' OR room = ?3)"
)
MAX_LISTED = 200  # files at once
_OF_WORKSPACE = "substr(room, 1, length(?1)) = ?1"


class UnreadFiles:
    """Reads and writes the table of unread files. The caller of a change holds the lock of the room."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, file: UnreadFile) -> None:
        """Insert or replace a file, unless its author opted out."""
        await self._database.write(_save_file, file)

    async def list_newest(
        self, scope: Scope, limit: int = MAX_LISTED, room: str = "", *, skip: int = 0
    ) -> list[UnreadFile]:
        """The files in scope, or those of one room of it, the newest first, without the first `skip`."""
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM unread_file WHERE {_IN_SCOPE} ORDER BY time DESC, key LIMIT {limit} OFFSET {skip}",
            (*_bind_scope(scope), room),
        )
        return [
            UnreadFile(key, space, place, message, upload, author, from_micros(time) or EPOCH, name, family, reason)
            for key, space, place, message, upload, author, time, name, family, reason in rows
        ]

    async def count_families(self, scope: Scope, room: str = "", since: datetime = EPOCH) -> dict[str, int]:
        """How many files of each family are in scope since a time, or in one room of it, the most frequent first."""
        rows = await self._database.fetch_all(
            f"SELECT family, COUNT(*) FROM unread_file WHERE {_IN_SCOPE} AND time >= ?4"
            " GROUP BY family ORDER BY COUNT(*) DESC, family",
            (*_bind_scope(scope), room, to_micros(since)),
        )
        return dict(rows)

    async def move_room(self, room: str, space: str) -> None:
        """Move the files of a room to the space of its current audience."""
        await self._database.execute("UPDATE unread_file SET space = ? WHERE room = ?", (space, room))

    async def delete(self, key: str) -> None:
        """Delete a file, which was read meanwhile."""
        await self._delete("key = ?", key)

    async def delete_by_messages(self, room: str, ids: Collection[str]) -> None:
        """Delete the files of these messages."""
        await self._delete("room = ? AND message IN (SELECT value FROM @list(?))", room, text_list(ids))

    async def delete_others(self, room: str, message: str, uploads: Collection[str]) -> None:
        """Delete the files that a message no longer has: all but these uploads."""
        condition = "room = ? AND message = ? AND upload NOT IN (SELECT value FROM @list(?))"
        await self._delete(condition, room, message, text_list(uploads))

    async def delete_by_uploads(self, prefix: str, uploads: Collection[str], room: str = "") -> None:
        """Delete these uploads in all rooms whose names start with a prefix, or in one room."""
        condition = f"{_OF_WORKSPACE} AND upload IN (SELECT value FROM @list(?2)) AND (?3 = '' OR room = ?3)"
        await self._delete(condition, prefix, text_list(uploads), room)

    async def delete_by_author(self, platform: str, workspace: str, author: str) -> None:
        """Delete the files that a person shared."""
        await self._delete(f"{_OF_WORKSPACE} AND author = ?2", f"{platform}:{workspace}:", author)

    async def delete_before(self, time: datetime) -> None:
        """Delete the files older than a time."""
        await self._delete("time < ?", to_micros(time))

    async def _delete(self, condition: str, *parameters: Any) -> None:
        await self._database.execute(f"DELETE FROM unread_file WHERE {condition}", parameters)


def _bind_scope(scope: Scope) -> tuple[str, str]:
    return text_list(scope.spaces), text_list(scope.rooms)


def _save_file(db: Connection, file: UnreadFile) -> None:
    if is_opted_out(db, file.room, file.author):
        return
    values = (file.key, file.space, file.room, file.message_id, file.upload_id, file.author, to_micros(file.time))
    db.execute(
        f"INSERT INTO unread_file ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
        " SET space = excluded.space, name = excluded.name, family = excluded.family, reason = excluded.reason",
        (*values, file.name, file.family, file.reason),
    )
