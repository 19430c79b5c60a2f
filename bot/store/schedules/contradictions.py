"""Tables of statements that disagree: what was decided about them, and who was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engine.storage.sql.lists import text_list
from engine.storage.sql.timestamps import from_micros, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.platform.models import Location
    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

Decision = Literal["settled", "dismissed"]


@dataclass(frozen=True, slots=True)
class KnownContradiction:
    """Two statements that disagree, by the keys of their messages or files, in a workspace `place`."""

    id: str
    place: Location
    older: str
    newer: str


@dataclass(frozen=True, slots=True)
class ToldPerson:
    """A person of a workspace, and what they were told: when last, of what, and in which message that is not posted.

    `begun`: the id of that message, and of what it tells; both empty if there is none.
    """

    told: frozenset[str] = frozenset()
    last: datetime | None = None
    begun: tuple[str, str] = ("", "")


class Contradictions:
    """Statements that disagree. A row goes with either of its sources."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_decided(self, ids: Collection[str]) -> set[str]:
        """Those about which somebody decided."""
        rows = await self._database.fetch_all(
            "SELECT id FROM contradiction WHERE id IN (SELECT value FROM @list(?)) AND state <> 'found'",
            (text_list(sorted(ids)),),
        )
        return {str(id_) for (id_,) in rows}

    async def decide(self, known: KnownContradiction, state: Decision, wrong: str, person: str, now: datetime) -> None:
        """Record what somebody decided about one."""
        await self._database.write(_decide, known, (state, wrong, person, to_micros(now)))

    async def list_wrong(self, keys: Collection[str]) -> set[str]:
        """Those of some keys whose statement was found wrong."""
        rows = await self._database.fetch_all(
            "SELECT wrong FROM contradiction WHERE wrong IN (SELECT value FROM @list(?)) AND wrong <> ''",
            (text_list(sorted(keys)),),
        )
        return {str(key) for (key,) in rows}

    async def find_due(self, place: Location) -> datetime | None:
        """When a workspace is to be searched next; None if it never was."""
        row = await self._database.fetch_one(
            "SELECT due_at FROM contradiction_search WHERE platform = ? AND workspace = ?",
            (place.platform, place.workspace),
        )
        return from_micros(row[0]) if row else None

    async def set_due(self, place: Location, due: datetime) -> None:
        """Set when a workspace is to be searched next."""
        await self._database.execute(
            "INSERT INTO contradiction_search VALUES (?, ?, ?)"
            " ON CONFLICT (platform, workspace) DO UPDATE SET due_at = excluded.due_at",
            (place.platform, place.workspace, to_micros(due)),
        )

    async def find_person(self, place: Location, person: str) -> ToldPerson:
        """What a person of a workspace was told."""
        rows = await self._database.fetch_all(
            "SELECT contradiction, answer, time, state FROM contradiction_notice"
            " WHERE platform = ? AND workspace = ? AND person = ? ORDER BY time, contradiction",
            (place.platform, place.workspace, person),
        )
        told = frozenset(str(row[0]) for row in rows if row[3] == "told")
        begun = next(((str(row[1]), str(row[0])) for row in rows if row[3] == "begun"), ("", ""))
        return ToldPerson(told, from_micros(rows[-1][2]) if rows else None, begun)

    async def begin_telling(self, known: KnownContradiction, person: str, answer: str, now: datetime) -> None:
        """Record the bot's message that tells a person of one, so that a repetition continues it."""
        await self._database.write(_begin_telling, known, (person, answer, to_micros(now)))

    async def finish_telling(self, id_: str, person: str) -> None:
        """Record that a person was told, or cannot be."""
        await self._database.execute(
            "UPDATE contradiction_notice SET state = 'told' WHERE contradiction = ? AND person = ?", (id_, person)
        )

    async def delete_person(self, platform: str, workspace: str, person: str) -> None:
        """Delete what a person was told, and who decided where it was them."""
        whose = (platform, workspace, person)
        where = "platform = ? AND workspace = ? AND person = ?"
        await self._database.execute_all(
            (f"DELETE FROM contradiction_notice WHERE {where}", whose),
            (f"UPDATE contradiction SET person = '' WHERE {where}", whose),
        )


def forget_contradictions_using(db: Connection, keys: Collection[str]) -> None:
    """Delete the rows about statements of these messages or files."""
    listed = text_list(sorted(keys))
    db.execute(
        "DELETE FROM contradiction WHERE older IN (SELECT value FROM @list(?1))"
        " OR newer IN (SELECT value FROM @list(?1))",
        (listed,),
    )


def _insert(db: Connection, known: KnownContradiction, now: int | None) -> None:
    place = known.place
    db.execute(
        "INSERT INTO contradiction (id, platform, workspace, older, newer, time) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (known.id, place.platform, place.workspace, known.older, known.newer, now),
    )


def _decide(db: Connection, known: KnownContradiction, decided: tuple[str, str, str, int | None]) -> None:
    state, wrong, person, now = decided
    _insert(db, known, now)
    db.execute(
        "UPDATE contradiction SET state = ?, wrong = ?, person = ?, time = ? WHERE id = ?",
        (state, wrong, person, now, known.id),
    )


def _begin_telling(db: Connection, known: KnownContradiction, told: tuple[str, str, int | None]) -> None:
    person, answer, now = told
    _insert(db, known, now)
    db.execute(
        "INSERT INTO contradiction_notice (contradiction, platform, workspace, person, answer, time)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (known.id, known.place.platform, known.place.workspace, person, answer, now),
    )
