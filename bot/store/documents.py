"""Tables of documents: files, who shared them and where, those that were not read, and conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.database import NO_LIMIT
from bot.store.models import ConversationRecord, FileRecord, UnreadFile
from bot.store.people import is_opted_out
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.store.database import Database
    from engine import Scope
    from engine.storage.sql.connection import Connection


_FILE_COLUMNS = "document, room, message, upload, author, time, applied"
_CONVERSATION_COLUMNS = "document, room, thread, first, last, tokens"
_OF_WORKSPACE = "substr(room, 1, length(?1)) = ?1"
_COLUMNS = "key, space, room, message, upload, author, time, name, family, reason"
_IN_SCOPE = (
    "(space IN (SELECT value FROM @list(?1)) OR room IN (SELECT value FROM @list(?2))) AND (?3 = '' OR room = ?3)"
)
MAX_LISTED = 200  # files at once


class Files:
    """Reads and writes the table of files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert(self, file: FileRecord) -> None:
        """Insert a file before it is added to the engine, unless its author opted out meanwhile."""
        await self._database.write(_insert_file, file)

    async def record_applied(self, file: FileRecord) -> None:
        """Record that the engine has all documents of an upload."""
        await self._database.execute(
            "UPDATE file SET applied = true WHERE room = ? AND message = ? AND upload = ?",
            (file.room, file.message_id, file.upload_id),
        )

    async def get(self, document: str) -> FileRecord | None:
        """The file of a document, or None."""
        return next(iter(await self._select("document = ?", document)), None)

    async def list_by_messages(self, room: str, ids: Collection[str]) -> list[FileRecord]:
        """The files of these messages."""
        return await self._select("room = ? AND message IN (SELECT value FROM @list(?))", room, text_list(ids))

    async def list_by_uploads(self, prefix: str, uploads: Collection[str]) -> list[FileRecord]:
        """The records of these uploads in all rooms whose names start with a prefix."""
        return await self._select(
            f"{_OF_WORKSPACE} AND upload IN (SELECT value FROM @list(?2))", prefix, text_list(uploads)
        )

    async def list_by_prefix(self, room: str, prefix: str) -> list[FileRecord]:
        """The files of a channel whose upload ids start with a prefix."""
        return await self._select("room = ? AND substr(upload, 1, length(?2)) = ?2", room, prefix)

    async def list_by_author(self, platform: str, workspace: str, author: str) -> list[FileRecord]:
        """The files that a person shared."""
        return await self._select(f"{_OF_WORKSPACE} AND author = ?2", f"{platform}:{workspace}:", author)

    async def list_by_workspace(self, platform: str, workspace: str) -> list[FileRecord]:
        """The files that were shared or attached in any channel of a workspace."""
        return await self._select(_OF_WORKSPACE, f"{platform}:{workspace}:")

    async def list_in_unindexed_channels(self, platform: str, limit: int) -> list[FileRecord]:
        """The files with stored messages in channels that are not read, newest first."""
        found = await self._select(
            f"document IN (SELECT document FROM file f WHERE {_OF_WORKSPACE}"
            " AND EXISTS (SELECT 1 FROM message m WHERE m.room = f.room AND m.id = f.message)"
            " AND room NOT IN (SELECT room FROM channel WHERE announced) ORDER BY time DESC LIMIT ?2)",
            f"{platform}:",
            limit,
        )
        return sorted(found, key=lambda each: each.time, reverse=True)

    async def list_pending(self, room: str, limit: int, after: str = "") -> list[FileRecord]:
        """At most `limit` files of a channel that are not ingested yet, by document; `after`: the last one before."""
        return await self._select(
            "room = ? AND document > ? AND NOT applied"
            " AND EXISTS (SELECT 1 FROM message m WHERE m.room = file.room AND m.id = file.message)",
            room,
            after,
            limit=limit,
        )

    async def list_before(self, time: datetime) -> list[FileRecord]:
        """The files older than a time."""
        return await self._select("time < ?", to_micros(time))

    async def delete(self, document: str) -> None:
        """Delete the record of a file, and whom it was compared with: its key may have a name in it."""
        await self._database.execute_all(
            *(
                (
                    f"DELETE FROM {table} WHERE room = (SELECT room FROM file WHERE document = ?1) AND message = ?1",
                    (document,),
                )
                for table in ("watch_candidate", "watch_notice")
            ),
            ("DELETE FROM file WHERE document = ?", (document,)),
        )

    async def _select(self, condition: str, *parameters: Any, limit: int = NO_LIMIT) -> list[FileRecord]:
        rows = await self._database.fetch_all(
            f"SELECT {_FILE_COLUMNS} FROM file WHERE {condition} ORDER BY document LIMIT {limit}", parameters
        )
        return [
            FileRecord(document, room, message, upload, author, from_micros(time) or EPOCH, bool(settled))
            for document, room, message, upload, author, time, settled in rows
        ]


class Conversations:
    """Reads and writes the table of conversations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, document: str) -> ConversationRecord | None:
        """One conversation, or None."""
        return next(iter(await self._select("document = ?", document)), None)

    async def list_overlapping(self, room: str, since: datetime, until: datetime) -> list[ConversationRecord]:
        """The windows of messages outside of threads that overlap a time span, by their last message."""
        return await self._select(
            "room = ? AND thread = '' AND last >= ? AND first <= ?", room, to_micros(since), to_micros(until)
        )

    async def list_active_since(self, room: str, since: datetime, limit: int) -> list[ConversationRecord]:
        """The threads with messages since a time, newest first."""
        found = await self._select("room = ? AND thread <> '' AND last >= ?", room, to_micros(since))
        return found[-limit:]

    async def list_idle_since(self, before: datetime) -> list[ConversationRecord]:
        """Open conversations without messages since a time."""
        return await self._select("open AND last <= ?", to_micros(before))

    async def close(self, document: str) -> None:
        """Mark a conversation as closed."""
        await self._database.execute("UPDATE conversation SET open = false WHERE document = ?", (document,))

    async def delete(self, document: str) -> None:
        """Delete a conversation; its messages belong to no document anymore."""
        await self._database.execute_all(
            ("DELETE FROM conversation WHERE document = ?", (document,)),
            ("UPDATE message SET document = '', applied = true WHERE document = ? AND document <> ''", (document,)),
        )

    async def _select(self, condition: str, *parameters: Any) -> list[ConversationRecord]:
        rows = await self._database.fetch_all(
            f"SELECT {_CONVERSATION_COLUMNS} FROM conversation WHERE {condition} ORDER BY last, document", parameters
        )
        return [
            ConversationRecord(document, room, thread, from_micros(first) or EPOCH, from_micros(last) or EPOCH, tokens)
            for document, room, thread, first, last, tokens in rows
        ]


def _insert_file(db: Connection, file: FileRecord) -> None:
    if not is_opted_out(db, file.room, file.author):
        values = (file.document, file.room, file.message_id, file.upload_id, file.author, to_micros(file.time))
        db.execute(
            f"INSERT INTO file ({_FILE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (*values, file.is_applied),
        )


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
