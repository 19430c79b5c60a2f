"""Tables of statements that disagree: what was decided about them, and who was told."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from bot.store.models import CONTRADICTION_PREFIX
from engine.storage.sql.fragments import from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.platform.models import Location
    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

INTERVAL = timedelta(days=7)  # between two messages to one person
TAKEOVER = timedelta(minutes=10)  # after which what somebody began to settle and did not finish is open again
_ID_BYTES = 10
_RIGHT = "CASE wrong WHEN older THEN newer ELSE older END"
_HOLDS = (  # what somebody decided, unless the verified answer of that is gone, or says something else
    "(state = 'dismissed' OR (state = 'settled' AND (verified = '' OR EXISTS (SELECT 1 FROM verified_provenance v"
    f" WHERE v.verified = contradiction.verified AND v.key = {_RIGHT}))))"
)


@dataclass(frozen=True, slots=True)
class KnownContradiction:
    """Two statements that disagree, by the keys of their messages or files, in a workspace `place`."""

    id: str
    place: Location
    older: str
    newer: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody says about two statements; `wrong`, `room` and `verified` as in the table.

    "settling": the verified answer is yet to be made.
    """

    state: Literal["settling", "settled", "dismissed"]
    person: str = ""
    wrong: str = ""
    room: str = ""
    verified: str = ""


@dataclass(frozen=True, slots=True)
class BrokenNotice:
    """A message of the bot (`answer`) that was begun, and must not stay: a statement that it quotes was forgotten."""

    contradiction: str
    person: str
    answer: str


@dataclass(frozen=True, slots=True)
class ToldPerson:
    """What a person of a workspace was told: when last, and of what. `begun`: of what they are being told, or empty."""

    told: frozenset[str] = frozenset()
    last: datetime | None = None
    begun: str = ""


class Contradictions:
    """Statements that disagree. What is known of two goes with either of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_decided(self, ids: Collection[str]) -> set[str]:
        """Those about which somebody decided."""
        rows = await self._database.fetch_all(
            f"SELECT id FROM contradiction WHERE id IN (SELECT value FROM @list(?)) AND {_HOLDS}",
            (text_list(sorted(ids)),),
        )
        return {str(id_) for (id_,) in rows}

    async def decide(self, known: KnownContradiction, decision: Decision, now: datetime) -> bool:
        """Record what somebody decides about one; False if somebody did already, or is about to."""
        return await self._database.write(_decide, known, decision, now)

    async def finish_settling(self, id_: str, person: str, *, verified: bool) -> None:
        """Record that a person made the verified answer of one, or could not, so that it is open again."""
        undone = "state = 'found', wrong = '', person = '', room = '', verified = ''"
        change, is_own = "state = 'settled'" if verified else undone, "person = ? AND state = 'settling'"
        await self._database.execute(f"UPDATE contradiction SET {change} WHERE id = ? AND {is_own}", (id_, person))

    async def list_wrong(self, keys: Collection[str]) -> list[tuple[str, str]]:
        """Those of some keys whose statement was found wrong, each with the room of the right statement."""
        rows = await self._database.fetch_all(
            "SELECT wrong, room FROM contradiction WHERE wrong IN (SELECT value FROM @list(?)) AND wrong <> ''"
            f" AND {_HOLDS} ORDER BY wrong, room",
            (text_list(sorted(keys)),),
        )
        return [(str(key), str(room)) for key, room in rows]

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
            "SELECT contradiction, time, state FROM contradiction_notice"
            " WHERE platform = ? AND workspace = ? AND person = ? ORDER BY time, contradiction",
            (place.platform, place.workspace, person),
        )
        told = frozenset(str(row[0]) for row in rows if row[2] == "told")
        begun = next((str(row[0]) for row in rows if row[2] == "begun"), "")
        return ToldPerson(told, from_micros(rows[-1][1]) if rows else None, begun)

    async def begin_telling(self, known: KnownContradiction, person: str, now: datetime) -> str:
        """The id of the bot's message that tells a person of one: a new one, or that of what was begun.

        Empty if they were told, or what was posted of it before is to be taken back first.
        """
        return await self._database.write(_begin_telling, known, person, now)

    async def break_others(self, place: Location, wanted: Collection[tuple[str, str]]) -> None:
        """Have the messages that were begun in a workspace taken back, except these (person, contradiction)."""
        kept = text_list(sorted(f"{person} {id_}" for person, id_ in wanted))
        await self._database.execute(
            "UPDATE contradiction_notice SET state = 'broken' WHERE platform = ? AND workspace = ? AND state = 'begun'"
            " AND person || ' ' || contradiction NOT IN (SELECT value FROM @list(?))",
            (place.platform, place.workspace, kept),
        )

    async def list_broken(self, place: Location) -> list[BrokenNotice]:
        """The messages that were begun in a workspace and must not stay."""
        rows = await self._database.fetch_all(
            "SELECT contradiction, person, answer FROM contradiction_notice"
            " WHERE platform = ? AND workspace = ? AND state = 'broken' ORDER BY contradiction, person",
            (place.platform, place.workspace),
        )
        return [BrokenNotice(*row) for row in rows]

    async def finish_broken(self, notice: BrokenNotice) -> None:
        """Record that nothing of a message stays."""
        await self._database.execute(
            "UPDATE contradiction_notice SET state = 'ended' WHERE answer = ? AND state = 'broken'", (notice.answer,)
        )

    async def set_off(self, place: Location, person: str, *, is_off: bool) -> None:
        """Record whether a person of a workspace wants to be told of none; without a workspace, of all of them."""
        whose = (place.platform, place.workspace, person)
        added = "INSERT INTO contradiction_off VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        removed = (
            "DELETE FROM contradiction_off WHERE platform = ?1 AND person = ?3"
            " AND (?2 IN ('', workspace) OR workspace = '')"
        )
        await self._database.execute(added if is_off else removed, whose)

    async def is_off(self, place: Location, person: str) -> bool:
        """Whether a person of a workspace wants to be told of none."""
        sql = "SELECT 1 FROM contradiction_off WHERE platform = ? AND workspace IN (?, '') AND person = ?"
        return await self._database.fetch_one(sql, (place.platform, place.workspace, person)) is not None

    async def finish_telling(self, id_: str, person: str) -> None:
        """Record that a person was told, or cannot be."""
        await self._database.execute(
            "UPDATE contradiction_notice SET state = 'told' WHERE contradiction = ? AND person = ? AND state = 'begun'",
            (id_, person),
        )

    async def delete_person(self, platform: str, workspace: str, person: str) -> None:
        """Delete what a person was told, that they want to be told of none, and who decided where it was them."""
        whose = (platform, workspace, person)
        where = "platform = ? AND workspace = ? AND person = ?"
        await self._database.execute_all(
            (f"DELETE FROM contradiction_notice WHERE {where}", whose),
            (f"DELETE FROM contradiction_off WHERE {where}", whose),
            (f"UPDATE contradiction SET person = '' WHERE {where}", whose),
        )


def forget_contradictions_using(db: Connection, keys: Collection[str]) -> None:
    """Delete the rows about statements of these messages or files; what was begun to be told of them is broken."""
    gone = db.execute_fetchall(
        "DELETE FROM contradiction WHERE older IN (SELECT value FROM @list(?1))"
        " OR newer IN (SELECT value FROM @list(?1)) RETURNING id",
        (text_list(sorted(keys)),),
    )
    db.executemany(
        "UPDATE contradiction_notice SET state = CASE state WHEN 'begun' THEN 'broken' WHEN 'told' THEN 'ended'"
        " ELSE state END WHERE contradiction = ?",
        gone,
    )


def _insert(db: Connection, known: KnownContradiction, now: datetime) -> None:
    place = known.place
    db.execute(
        "INSERT INTO contradiction (id, platform, workspace, older, newer, time) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (known.id, place.platform, place.workspace, known.older, known.newer, to_micros(now)),
    )


def _decide(db: Connection, known: KnownContradiction, decision: Decision, now: datetime) -> bool:
    _insert(db, known, now)
    person, wrong = decision.person, decision.wrong
    decided = db.execute_fetchall(
        "UPDATE contradiction SET state = ?, person = ?, wrong = ?, room = ?, verified = ?, time = ? WHERE id = ?"
        f" AND NOT {_HOLDS} AND (state <> 'settling' OR (person = ? AND wrong = ?) OR time <= ?) RETURNING id",
        (
            *(decision.state, person, wrong, decision.room, decision.verified, to_micros(now), known.id),
            *(person, wrong, to_micros(now - TAKEOVER)),
        ),
    )
    return bool(decided)


def _begin_telling(db: Connection, known: KnownContradiction, person: str, now: datetime) -> str:
    _insert(db, known, now)
    old, answer = to_micros(now - INTERVAL), CONTRADICTION_PREFIX + secrets.token_hex(_ID_BYTES)
    db.execute("DELETE FROM contradiction_notice WHERE state = 'ended' AND time <= ?", (old,))
    db.execute(
        "INSERT INTO contradiction_notice (contradiction, platform, workspace, person, answer, time)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (contradiction, person) DO UPDATE SET answer = excluded.answer,"
        " time = excluded.time, state = 'begun' WHERE contradiction_notice.state = 'ended'",
        (known.id, known.place.platform, known.place.workspace, person, answer, to_micros(now)),
    )
    rows = db.execute_fetchall(
        "SELECT answer FROM contradiction_notice WHERE contradiction = ? AND person = ? AND state = 'begun'",
        (known.id, person),
    )
    return next((str(answer) for (answer,) in rows), "")
