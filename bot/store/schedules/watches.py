"""Tables of standing requests, of the messages and files to compare with them, and of what they found."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.platform.models import Location
from bot.store.database import parse_rows
from bot.store.schedules.sources import PREFIX
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bot.store.database import Database
    from engine.llm.offline.points.watched import WatchKind
    from engine.storage.sql.connection import Connection

_COLUMNS = "id, platform, workspace, person, kind, subject, created_at"
_CANDIDATE_COLUMNS = "room, message, noted_at"
_NOTICE_COLUMNS = "watch, room, message, found_at, answer"
DIGEST_LENGTH = 16  # hexadecimal digits


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
    """A message or a file, named as in WatchCandidate, that a standing request waited for, and that nobody was told.

    `answer`: the id of the bot's message that was begun to tell of it; empty if none was.
    """

    watch: str
    room: str
    message: str
    found_at: datetime
    answer: str = ""


@dataclass(frozen=True, slots=True)
class WatchCandidate:
    """A message, a file (by its key), or what is new of a source (by a NewsId), to be compared."""

    room: str
    message: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class NewsId:
    """Names what is new of a source: a document, or a statement of one by a digest and the `place` of its passage."""

    document: str
    place: int = 0
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.document}\n{self.place}\n{self.digest}"

    @classmethod
    def parse(cls, text: str) -> NewsId | None:
        """The id with this text; None for the id of a message or the key of a file."""
        rest, _, digest = text.rpartition("\n")
        document, _, place = rest.rpartition("\n")
        return cls(document, int(place), digest) if document.startswith(PREFIX) and place.isdecimal() else None


def digest_statement(text: str) -> str:
    """What a statement is recognized by."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGEST_LENGTH]


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

    async def list_candidates(self, limit: int) -> list[WatchCandidate]:
        """The stored messages and files to compare, the first noted first."""
        rows = await self._database.fetch_all(
            f"SELECT {_CANDIDATE_COLUMNS} FROM watch_candidate c"
            " WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.room = c.room AND m.id = c.message AND NOT m.applied)"
            " AND NOT EXISTS (SELECT 1 FROM file f WHERE f.document = c.message AND NOT f.applied)"
            " AND NOT EXISTS (SELECT 1 FROM pending_redaction p"
            " WHERE substr(c.message, 1, length(p.key) + 1) = p.key || ?2)"
            " ORDER BY noted_at, room, message LIMIT ?1",
            (limit, "\n"),
        )
        return [WatchCandidate(str(room), str(message), from_micros(added) or EPOCH) for room, message, added in rows]

    async def forget_news(self, document: str, present: Collection[str] | None = None) -> None:
        """Delete what was noted and found of a document of a source, of all of it or of what is no more in it.

        `present`: the digests of the statements in it.
        """
        whose = "room IN (SELECT room FROM source WHERE id = ?1) AND substr(message, 1, length(?2)) = ?2"
        parameters = document.removeprefix(PREFIX).partition(":")[0], f"{document}\n"
        rows = await self._database.fetch_all(
            f"SELECT message FROM watch_candidate WHERE {whose} UNION SELECT message FROM watch_notice WHERE {whose}",
            parameters,
        )
        gone = text_list([id_ for (id_,) in rows if present is None or not _is_present(id_, present)])
        await self._database.execute_all(
            *(
                (f"DELETE FROM {table} WHERE {whose} AND message IN (SELECT value FROM @list(?3))", (*parameters, gone))
                for table in ("watch_candidate", "watch_notice")
            )
        )

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


def _is_present(id_: str, digests: Collection[str]) -> bool:
    news = NewsId.parse(id_)
    return news is not None and (not news.digest or news.digest in digests)


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
