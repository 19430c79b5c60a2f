"""Tables of standing requests, of the messages and files to compare with them, and of what they found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Location
from bot.store.models import parse_rows
from engine.storage.sql.fragments import from_micros, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bot.store.models import Database
    from engine.llm.offline.points.watched import WatchKind
    from engine.storage.sql.connection import Connection

_COLUMNS = "id, platform, workspace, person, kind, subject, created_at"
_NOTICE_COLUMNS = "watch, room, message, found_at, answer"


@dataclass(frozen=True, slots=True)
class Watch:
    """A standing request of a person of a workspace, or, without a person, of a space of the terminal.

    `subject`: the words of the request. Messages from before `created_at` are no news.
    """

    id: str
    platform: str
    workspace: str
    person: str
    kind: WatchKind
    subject: str
    created_at: datetime

    @property
    def place(self) -> Location:
        """The workspace, in none of its channels."""
        return Location(self.platform, self.workspace, "")

    def is_about(self, place: Location) -> bool:
        """Whether messages of a place may be for it. What belongs to no workspace may be for those of any."""
        is_near = "" in {self.workspace, place.workspace} or self.workspace == place.workspace
        return self.platform == place.platform and is_near


@dataclass(frozen=True, slots=True)
class WatchNotice:
    """A message, or a file (by its key), that a standing request waited for, and of which nobody was told yet.

    `answer`: the id of the bot's message that was begun to tell of it; empty if none was.
    """

    watch: str
    room: str
    message: str
    found_at: datetime
    answer: str = ""


class Watches:
    """Stores watches; a message is told once for each of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, watch: Watch, limit: int) -> bool:
        """Store a standing request, unless the person has that many already; the same request is stored once."""
        return await self._database.write(_add, watch, limit)

    async def list_of(self, place: Location, person: str) -> list[Watch]:
        """The standing requests of a person, the oldest first; outside a workspace, those of all of them."""
        return await self._select(
            "platform = ?1 AND (workspace IN (?2, '') OR ?2 = '') AND person = ?3",
            place.platform,
            place.workspace,
            person,
        )

    async def list_all(self) -> list[Watch]:
        """All standing requests of people."""
        return await self._select("person <> ''")

    async def delete(self, ids: Collection[str]) -> None:
        """End standing requests."""
        for id_ in ids:
            await self._database.execute("DELETE FROM watch WHERE id = ?", (id_,))

    async def delete_person(self, platform: str, workspace: str, person: str) -> None:
        """End the standing requests of a person."""
        await self._database.execute(
            "DELETE FROM watch WHERE platform = ? AND workspace = ? AND person = ?", (platform, workspace, person)
        )

    async def find_start(self, platform: str, workspace: str) -> datetime | None:
        """Since when messages of a workspace are compared with standing requests; None if there is none.

        Direct messages of some platforms belong to no workspace.
        """
        row = await self._database.fetch_one(
            "SELECT min(created_at) FROM watch WHERE platform = ?1 AND (workspace IN (?2, '') OR ?2 = '')"
            " AND person <> ''",
            (platform, workspace),
        )
        return from_micros(row[0]) if row and row[0] is not None else None

    async def add_candidates(self, room: str, messages: Collection[str], now: datetime) -> None:
        """Note messages, or files by their keys, to compare with standing requests."""
        await self._database.execute_many(
            "INSERT INTO watch_candidate VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(room, message, to_micros(now)) for message in messages],
        )

    async def list_candidates(self, limit: int) -> list[tuple[str, str]]:
        """The rooms and ids of stored messages and files to compare, the first noted first."""
        rows = await self._database.fetch_all(
            "SELECT room, message FROM watch_candidate c"
            " WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.room = c.room AND m.id = c.message AND NOT m.applied)"
            " AND NOT EXISTS (SELECT 1 FROM file f WHERE f.document = c.message AND NOT f.applied)"
            " ORDER BY noted_at, room, message LIMIT ?",
            (limit,),
        )
        return [(str(room), str(message)) for room, message in rows]

    async def finish_candidate(self, room: str, message: str, watches: Collection[str], now: datetime) -> None:
        """Record which standing requests a message or a file is for, and that it was compared.

        Nothing is recorded of what was deleted meanwhile.
        """
        await self._database.write(_finish_candidate, (room, message), tuple(watches), to_micros(now))

    async def list_waiting(self) -> list[WatchNotice]:
        """The messages of which nobody was told yet, by request and time."""
        rows = await self._database.fetch_all(
            f"SELECT {_NOTICE_COLUMNS} FROM watch_notice WHERE state = 'waiting'"
            " ORDER BY watch, found_at, room, message"
        )
        return parse_rows(rows, _to_notice)

    async def begin_telling(self, notices: Sequence[WatchNotice], answer: str) -> None:
        """Record the bot's message that tells of these, so that a repetition continues it."""
        await self._set(notices, "answer", answer)

    async def finish_telling(self, notices: Sequence[WatchNotice], state: str) -> None:
        """Record that somebody was told, or may not be told any more, as the state is called in the table."""
        await self._set(notices, "state", state)

    async def _set(self, notices: Sequence[WatchNotice], column: str, value: str) -> None:
        await self._database.execute_many(
            f"UPDATE watch_notice SET {column} = ? WHERE watch = ? AND room = ? AND message = ?",
            [(value, notice.watch, notice.room, notice.message) for notice in notices],
        )

    async def _select(self, where: str, *parameters: str) -> list[Watch]:
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM watch WHERE {where} ORDER BY created_at, id", parameters
        )
        return parse_rows(rows, _to_watch)


def _add(db: Connection, watch: Watch, limit: int) -> bool:
    whose = watch.platform, watch.workspace, watch.person
    mine = db.execute_fetchall(
        "SELECT kind, subject FROM watch WHERE platform = ? AND workspace = ? AND person = ?", whose
    )
    if (watch.kind, watch.subject) in {(kind, subject) for kind, subject in mine}:
        return True
    if len(mine) >= limit:
        return False
    db.execute(
        f"INSERT INTO watch ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (watch.id, *whose, watch.kind, watch.subject, to_micros(watch.created_at)),
    )
    return True


def _finish_candidate(db: Connection, key: tuple[str, str], watches: Sequence[str], now: int | None) -> None:
    for watch in watches:
        db.execute(
            "INSERT INTO watch_notice (watch, room, message, found_at) SELECT id, ?2, ?3, ?4 FROM watch WHERE id = ?1"
            " AND EXISTS (SELECT 1 FROM watch_candidate WHERE room = ?2 AND message = ?3) ON CONFLICT DO NOTHING",
            (watch, *key, now),
        )
    db.execute("DELETE FROM watch_candidate WHERE room = ? AND message = ?", key)


def _to_watch(row: tuple[object, ...]) -> Watch:
    id_, platform, workspace, person, kind, subject, created_at = row
    return Watch(str(id_), str(platform), str(workspace), str(person), kind, str(subject), from_micros(created_at))  # type: ignore[arg-type]


def _to_notice(row: tuple[object, ...]) -> WatchNotice:
    watch, room, message, found_at, answer = row
    return WatchNotice(str(watch), str(room), str(message), from_micros(found_at), str(answer))  # type: ignore[arg-type]
