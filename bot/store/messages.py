"""Messages without their texts: who wrote them, when, and which document each is a passage of."""

from __future__ import annotations

import json
import time as clock
from typing import TYPE_CHECKING, Any

from bot.store.models import Known
from engine.storage.sqlite.timestamps import EPOCH, shown, stored

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bot.platform.models import Place
    from bot.store.database import Database, Row

_COLUMNS = "room, id, thread, author, time, digest, document, tokens, settled"
_OF_WORKSPACE = "substr(room, 1, length(?1)) = ?1"
_DROP_EMPTY = "DELETE FROM conversation WHERE document = ?1 AND NOT EXISTS (SELECT 1 FROM message WHERE document = ?1)"
_GROW = (
    "INSERT INTO conversation (document, room, thread, first, last, tokens, open) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (document) DO UPDATE SET first = MIN(first, excluded.first), last = MAX(last, excluded.last),"
    " tokens = tokens + excluded.tokens"
)


class Messages:
    """What is known of messages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, room: str, id_: str) -> Known | None:
        """One message."""
        return next(iter(await self.several(room, (id_,))), None)

    async def several(self, room: str, ids: Collection[str]) -> list[Known]:
        """Those of these messages that are known, by time."""
        return await self._where("room = ? AND id IN (SELECT value FROM json_each(?))", room, json.dumps(list(ids)))

    async def of_document(self, document: str) -> list[Known]:
        """The messages of a conversation, by time."""
        return await self._where("document = ? AND document <> ''", document)

    async def of_thread(self, room: str, thread: str) -> list[Known]:
        """The messages of a thread, by time; its root is among them if it lies in the thread's document."""
        return await self._where("room = ? AND thread = ?", room, thread)

    async def roots(self, room: str, ids: Collection[str]) -> frozenset[str]:
        """Those of these messages to which replies are known."""
        rows = await self._database.rows(
            "SELECT DISTINCT thread FROM message WHERE room = ? AND id <> thread AND thread <> ''"
            " AND thread IN (SELECT value FROM json_each(?))",
            (room, json.dumps(list(ids))),
        )
        return frozenset(row[0] for row in rows)

    async def of_author(self, platform: str, workspace: str, author: str) -> list[Known]:
        """What somebody wrote, by time."""
        return await self._where(f"{_OF_WORKSPACE} AND author = ?2", f"{platform}:{workspace}:", author)

    async def last_of(self, room: str, author: str, before: datetime | None = None) -> datetime | None:
        """When somebody last said something in a channel, before a time if one is given, as far as that is known."""
        row = await self._database.row(
            "SELECT MAX(time) FROM message WHERE room = ? AND author = ? AND time < COALESCE(?, time + 1)",
            (room, author, stored(before)),
        )
        return shown(row[0]) if row else None

    async def between(self, room: str, since: datetime, until: datetime) -> list[Known]:
        """The messages of a channel within a time, both ends included, by time."""
        return await self._where("room = ? AND time BETWEEN ? AND ?", room, stored(since), stored(until))

    async def before(self, time: datetime, limit: int) -> list[Known]:
        """Up to so many of the messages that are older, the oldest first."""
        return await self._where("time < ?", stored(time), limit=limit)

    async def newest(self, room: str) -> datetime | None:
        """The time of the newest known message of a channel."""
        row = await self._database.row("SELECT MAX(time) FROM message WHERE room = ?", (room,))
        return shown(row[0]) if row else None

    async def note(self, messages: Sequence[Known], thread: str = "", *, opened: bool = False) -> None:
        """Keep messages of one document before the engine is told; those that are known already stay as they are.

        The conversation grows by the new ones; `thread` is its root, if it has one.
        """
        async with self._database.transaction() as db:
            for each in messages:
                row = (each.room, each.id, each.thread, each.author, stored(each.time), each.digest)
                new = await db.run(
                    f"INSERT INTO message ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO NOTHING RETURNING time",
                    (*row, each.document, each.tokens, each.settled),
                )
                if new and each.document:
                    time = stored(each.time)
                    await db.run(_GROW, (each.document, each.room, thread, time, time, each.tokens, opened))
            if opened and messages:
                await db.run("UPDATE conversation SET open = 1 WHERE document = ?", (messages[0].document,))

    async def settle(self, room: str, ids: Collection[str]) -> None:
        """The engine has them too."""
        await self._database.write(
            "UPDATE message SET settled = 1 WHERE room = ? AND id IN (SELECT value FROM json_each(?))",
            (room, json.dumps(list(ids))),
        )

    async def edit(self, room: str, id_: str, digest: str) -> None:
        """Its text is another one now."""
        await self._database.write("UPDATE message SET digest = ? WHERE room = ? AND id = ?", (digest, room, id_))

    async def move(self, room: str, id_: str, document: str) -> None:
        """It is a passage of this document now; a conversation of which no message is left goes."""
        async with self._database.transaction() as db:
            before = await db.run("SELECT document FROM message WHERE room = ? AND id = ?", (room, id_))
            await db.run(
                "UPDATE message SET document = ?, settled = 1 WHERE room = ? AND id = ?", (document, room, id_)
            )
            await db.each(_DROP_EMPTY, before)

    async def drop(self, room: str, ids: Collection[str]) -> None:
        """Nothing is known of them any more; a conversation of which none is left goes too."""
        listed = json.dumps(list(ids))
        async with self._database.transaction() as db:
            gone = await db.run(
                "DELETE FROM message WHERE room = ? AND id IN (SELECT value FROM json_each(?)) RETURNING document",
                (room, listed),
            )
            await db.each(_DROP_EMPTY, sorted(set(gone)))

    async def drop_room(self, place: Place) -> None:
        """Nothing is known of a channel any more, except for which deletions it told."""
        async with self._database.transaction() as db:
            for table in ("message", "conversation", "file"):
                await db.run(f"DELETE FROM {table} WHERE room = ?", (place.room,))

    async def note_deleted(self, room: str, ids: Collection[str], *, wanted: bool = False) -> None:
        """Messages, files or documents are gone, and stay so even if they are told of later.

        `wanted`: somebody wanted them forgotten, and they may still be there on the platform.
        """
        now = int(clock.time() * 1e6)
        async with self._database.transaction() as db:
            rows = [(room, id_, now, wanted) for id_ in ids]
            await db.each(
                "INSERT INTO deleted (room, id, time, wanted) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET time = excluded.time, wanted = MAX(wanted, excluded.wanted)",
                rows,
            )

    async def forget_deletions(self, before: datetime) -> None:
        """Remember no longer what the platform said before that time to be gone from it; it tells of it no more."""
        await self._database.write("DELETE FROM deleted WHERE NOT wanted AND time < ?", (stored(before),))

    async def deleted(self, room: str, ids: Collection[str], since: datetime = EPOCH) -> frozenset[str]:
        """Those of them that were deleted, as far as that is known; with a time, since then."""
        rows = await self._database.rows(
            "SELECT id FROM deleted WHERE room = ? AND id IN (SELECT value FROM json_each(?)) AND time >= ?",
            (room, json.dumps(list(ids)), stored(since)),
        )
        return frozenset(row[0] for row in rows)

    async def _where(self, condition: str, *parameters: Any, limit: int = -1) -> list[Known]:
        rows = await self._database.rows(
            f"SELECT {_COLUMNS} FROM message WHERE {condition} ORDER BY time, id LIMIT {limit}", parameters
        )
        return [_known(row) for row in rows]


def _known(row: Row) -> Known:
    room, id_, thread, author, time, digest, document, tokens, settled = row
    return Known(room, id_, thread, author, shown(time) or EPOCH, digest, document, tokens, bool(settled))
