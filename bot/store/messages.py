"""Tables of messages: author, time and document of each, and those that a history lacks.

Texts are only in the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.store.database import NO_LIMIT
from bot.store.models import MessageRecord
from bot.store.people import is_opted_out
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bot.platform.models import Location
    from bot.store.database import Database, Row
    from engine import Clock
    from engine.storage.sql.connection import Connection

_COLUMNS = "room, id, thread, author, time, digest, document, tokens, applied"
# Written so that the partial index of threads finds the ids; otherwise the whole room is read.
_OF_THREAD = (
    "room = ?1 AND id IN (SELECT id FROM message"
    " WHERE room = ?1 AND thread IN (SELECT value FROM @list(?2)) AND thread <> '')"
)
_OF_WORKSPACE = "substr(room, 1, length(?1)) = ?1"
_DELETE_EMPTY = (
    "DELETE FROM conversation WHERE document = ?1"
    " AND NOT EXISTS (SELECT 1 FROM message WHERE document = ?1 AND document <> '')"
)
_EXTEND_CONVERSATION = (
    "INSERT INTO conversation (document, room, thread, first, last, tokens, open) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (document) DO UPDATE SET first = @least(conversation.first, excluded.first),"
    " last = @greatest(conversation.last, excluded.last), tokens = conversation.tokens + excluded.tokens"
)

_BY_IDS = "room = ? AND id IN (SELECT value FROM @list(?))"


class Messages:
    """Reads and writes the table of messages."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def get(self, room: str, id_: str) -> MessageRecord | None:
        """Return a message, or None if it is not stored."""
        return next(iter(await self.list_by_ids(room, (id_,))), None)

    async def list_by_ids(self, room: str, ids: Collection[str]) -> list[MessageRecord]:
        """List the stored ones of these messages, by time."""
        return await self._select("room = ? AND id IN (SELECT value FROM @list(?))", room, text_list(ids))

    async def list_by_document(self, document: str) -> list[MessageRecord]:
        """List the messages of a conversation, by time."""
        return await self._select("document = ? AND document <> ''", document)

    async def list_by_thread(self, room: str, thread: str) -> list[MessageRecord]:
        """List the messages of a thread, by time; includes its root if that belongs to the thread's document."""
        return await self._select(_OF_THREAD, room, text_list([thread]))

    async def list_thread_roots(self, room: str, ids: Collection[str]) -> frozenset[str]:
        """Find the ones of these messages that have stored replies."""
        rows = await self._database.fetch_all(
            "SELECT DISTINCT thread FROM message WHERE room = ? AND id <> thread AND thread <> ''"
            " AND thread IN (SELECT value FROM @list(?))",
            (room, text_list(ids)),
        )
        return frozenset(row[0] for row in rows)

    async def list_unread_rooms(self, platform: str, since: datetime, limit: int) -> list[str]:
        """The places outside of read channels where somebody wrote to the bot since then, the latest first."""
        rows = await self._database.fetch_all(
            "SELECT room FROM message WHERE room >= ?1 || ':' AND room < ?1 || ';' AND time >= ?2"
            " AND NOT EXISTS (SELECT 1 FROM channel c WHERE c.room = message.room)"
            f" GROUP BY room ORDER BY MAX(time) DESC LIMIT {limit}",
            (platform, to_micros(since)),
        )
        return [str(room) for (room,) in rows]

    async def list_by_author(self, platform: str, workspace: str, author: str) -> list[MessageRecord]:
        """List the messages of an author in a workspace, by time."""
        return await self._select(f"{_OF_WORKSPACE} AND author = ?2", f"{platform}:{workspace}:", author)

    async def get_last_time(self, room: str, author: str, before: datetime | None = None) -> datetime | None:
        """Return the time of an author's last stored message in a channel, optionally before a time."""
        row = await self._database.fetch_one(
            "SELECT MAX(time) FROM message WHERE room = ? AND author = ? AND time < COALESCE(?, time + 1)",
            (room, author, to_micros(before)),
        )
        return from_micros(row[0]) if row else None

    async def list_between(self, room: str, since: datetime, until: datetime) -> list[MessageRecord]:
        """List the messages of a channel between two times, both included, by time."""
        return await self._select("room = ? AND time BETWEEN ? AND ?", room, to_micros(since), to_micros(until))

    async def list_before(self, time: datetime, limit: int) -> list[MessageRecord]:
        """List at most `limit` messages that are older than a time, oldest first."""
        return await self._select("time < ?", to_micros(time), limit=limit)

    async def list_frequent_authors(self, platform: str, workspace: str, limit: int) -> list[str]:
        """List at most `limit` authors of a workspace, who wrote most first."""
        rows = await self._database.fetch_all(
            f"SELECT author FROM message WHERE {_OF_WORKSPACE} GROUP BY author ORDER BY COUNT(*) DESC, author LIMIT ?2",
            (f"{platform}:{workspace}:", limit),
        )
        return [row[0] for row in rows]

    async def list_room_authors(self, room: str) -> list[str]:
        """List who wrote in a channel."""
        rows = await self._database.fetch_all("SELECT DISTINCT author FROM message WHERE room = ?", (room,))
        return [row[0] for row in rows]

    async def get_newest_time(self, room: str) -> datetime | None:
        """Return the time of the newest stored message of a channel."""
        row = await self._database.fetch_one("SELECT MAX(time) FROM message WHERE room = ?", (room,))
        return from_micros(row[0]) if row else None

    async def insert(self, messages: Sequence[MessageRecord], thread: str = "", *, opened: bool = False) -> None:
        """Insert messages of one document before they are added to the engine; stored ones are not changed.

        Extends the conversation by the new ones. Those of people who opted out meanwhile are left out. `thread`: the
        conversation's root message, if it has one.
        """
        await self._database.write(_insert_messages, messages, thread, opened=opened)

    async def record_applied(self, room: str, ids: Collection[str]) -> None:
        """Record that the engine has these messages, too."""
        await self._database.execute(
            "UPDATE message SET applied = true WHERE room = ? AND id IN (SELECT value FROM @list(?))",
            (room, text_list(ids)),
        )

    async def update_digest(self, room: str, id_: str, digest: str) -> None:
        """Record the digest of a message's new text."""
        await self._database.execute("UPDATE message SET digest = ? WHERE room = ? AND id = ?", (digest, room, id_))

    async def move_to_document(self, room: str, id_: str, document: str) -> None:
        """Move a message to another document; deletes its former conversation if that is now empty."""
        await self._database.write(_move_message, room, id_, document)

    async def delete(self, room: str, ids: Collection[str]) -> None:
        """Delete messages, and conversations that are empty without them."""
        await self._database.write(_delete_messages, room, ids)

    async def delete_channel(self, location: Location) -> None:
        """Delete everything about a channel except its tombstones."""
        tables = ("message", "conversation", "file", "unread_file")
        await self._database.execute_all(
            *((f"DELETE FROM {table} WHERE room = ?", (location.room,)) for table in tables)
        )

    async def add_tombstones(self, room: str, ids: Collection[str], *, requested: bool = False) -> None:
        """Record messages, files or documents as deleted, so that later events cannot bring them back.

        `requested`: a person asked for the deletion, and the platform may still have them.
        """
        now = to_micros(self._clock.now())
        await self._database.execute_many(
            "INSERT INTO tombstone (room, id, time, requested) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (room, id) DO UPDATE SET time = excluded.time,"
            " requested = tombstone.requested OR excluded.requested",
            [(room, id_, now, requested) for id_ in dict.fromkeys(ids)],
        )

    async def delete_tombstones(self, before: datetime) -> None:
        """Delete tombstones of deletions that the platform reported before a time; it does not report them again."""
        await self._database.execute("DELETE FROM tombstone WHERE NOT requested AND time < ?", (to_micros(before),))

    async def find_tombstones(self, room: str, ids: Collection[str], since: datetime = EPOCH) -> frozenset[str]:
        """Find the ones of these ids that were deleted, optionally since a time."""
        rows = await self._database.fetch_all(
            "SELECT id FROM tombstone WHERE room = ? AND id IN (SELECT value FROM @list(?)) AND time >= ?",
            (room, text_list(ids), to_micros(since)),
        )
        return frozenset(row[0] for row in rows)

    async def _select(self, condition: str, *parameters: Any, limit: int = NO_LIMIT) -> list[MessageRecord]:
        """Messages in the order of time; `+` keeps the database from reading a whole room in this order."""
        order = "time, id" if limit < NO_LIMIT else "+time, id"
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM message WHERE {condition} ORDER BY {order} LIMIT {limit}", parameters
        )
        return [_to_message_record(row) for row in rows]


def _insert_messages(db: Connection, messages: Sequence[MessageRecord], thread: str, *, opened: bool) -> None:
    """Insert messages of one document, and extend its conversation by the new ones."""
    for message in messages:
        if message.document and is_opted_out(db, message.room, message.author):
            continue
        time = to_micros(message.time)
        new = db.execute_fetchall(
            f"INSERT INTO message ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING RETURNING time",
            (
                *(message.room, message.id, message.thread, message.author, time, message.digest),
                *(message.document, message.tokens, message.is_applied),
            ),
        )
        if new and message.document:
            values = (message.document, message.room, thread, time, time, message.tokens, opened)
            db.execute(_EXTEND_CONVERSATION, values)
    if opened and messages:
        db.execute("UPDATE conversation SET open = true WHERE document = ?", (messages[0].document,))


def _move_message(db: Connection, room: str, id_: str, document: str) -> None:
    """Move a message to another document; delete its former conversation if that is now empty."""
    before = db.execute_fetchall("SELECT document FROM message WHERE room = ? AND id = ?", (room, id_))
    db.execute("UPDATE message SET document = ? WHERE room = ? AND id = ?", (document, room, id_))
    db.executemany(_DELETE_EMPTY, before)


def _delete_messages(db: Connection, room: str, ids: Collection[str]) -> None:
    """Delete messages, and conversations that are empty without them."""
    sql = "DELETE FROM message WHERE room = ? AND id IN (SELECT value FROM @list(?)) RETURNING document"
    documents = db.execute_fetchall(sql, (room, text_list(ids)))
    db.executemany(_DELETE_EMPTY, sorted(set(documents)))


def _to_message_record(row: Row) -> MessageRecord:
    room, id_, thread, author, micros, digest, document, tokens, is_applied = row
    time = from_micros(micros) or EPOCH
    return MessageRecord(room, id_, thread, author, time, digest, document, tokens, bool(is_applied))


class UnconfirmedDeletions:
    """Messages whose deletion must be confirmed one by one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, room: str, ids: Collection[str]) -> None:
        """Add messages that a listing lacks; unknown messages are ignored."""
        await self._write(
            "INSERT INTO unconfirmed_deletion (room, id)"
            f" SELECT room, id FROM message WHERE {_BY_IDS} ON CONFLICT DO NOTHING",
            room,
            ids,
        )

    async def record_checks(self, room: str, ids: Collection[str]) -> None:
        """Count one more check of these messages."""
        await self._write(f"UPDATE unconfirmed_deletion SET checks = checks + 1 WHERE {_BY_IDS}", room, ids)

    async def delete(self, room: str, ids: Collection[str]) -> None:
        """Remove messages that still exist."""
        await self._write(f"DELETE FROM unconfirmed_deletion WHERE {_BY_IDS}", room, ids)

    async def list_next(self, room: str, limit: int) -> list[str]:
        """The next messages to check: fewest checks first, then newest first."""
        rows = await self._database.fetch_all(
            "SELECT n.id FROM unconfirmed_deletion n @then JOIN message m USING (room, id) WHERE n.room = ?"
            " ORDER BY n.checks, m.time DESC, n.id LIMIT ?",
            (room, limit),
        )
        return [row[0] for row in rows]

    async def has_unchecked(self, room: str) -> bool:
        """Whether there are messages that were never checked."""
        return bool(
            await self._database.fetch_one(
                "SELECT 1 FROM unconfirmed_deletion WHERE room = ? AND checks = 0 LIMIT 1", (room,)
            )
        )

    async def _write(self, sql: str, room: str, ids: Collection[str]) -> None:
        await self._database.execute(sql, (room, text_list(ids)))
