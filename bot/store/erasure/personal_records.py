"""What the bot's tables hold about one person, besides the texts of their messages, which the engine has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.storage.sql.fragments import from_micros

if TYPE_CHECKING:
    from bot.store.database import Database

    Record = dict[str, Any]

_OF_WORKSPACE = "substr(room, 1, length(?4)) = ?4"


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """A kind of records: the names of their columns, and the statement that selects those of a person.

    Its parameters: platform, workspace, person, and the beginning of the rooms of the workspace.
    """

    kind: str
    columns: tuple[str, ...]
    sql: str


QUERIES = (
    RecordQuery(
        "question",
        ("id", "channel", "time", "text"),
        "SELECT id, room, time, question FROM answer WHERE platform = ?1 AND workspace = ?2 AND asker = ?3 AND ?4 = ?4"
        " ORDER BY time, id",
    ),
    RecordQuery(
        "vote",
        ("answer", "channel", "time", "up", "reason", "comment"),
        "SELECT id, room, time, up, reason, comment FROM answer JOIN feedback ON answer = id"
        " WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4 ORDER BY time, id",
    ),
    RecordQuery(
        "shared_answer",
        ("id", "answer", "time"),
        "SELECT s.id, s.answer, s.time FROM shared_answer s JOIN answer a ON a.id = s.answer"
        " WHERE platform = ?1 AND workspace = ?2 AND asker = ?3 AND ?4 = ?4 ORDER BY s.time, s.id",
    ),
    # The words of others are left out: a question that somebody else asked, a text that somebody else wrote.
    RecordQuery(
        "verified_answer",
        ("id", "channel", "time", "question", "text", "asked", "wrote", "verified"),
        "SELECT id, room, verified_at, CASE WHEN asker = ?3 THEN question ELSE '' END,"
        " CASE WHEN author = ?3 THEN text ELSE '' END, asker = ?3, author = ?3, verifier = ?3 FROM verified_answer"
        " WHERE platform = ?1 AND workspace = ?2 AND ?3 IN (asker, author, verifier) AND ?4 = ?4"
        " ORDER BY verified_at, id",
    ),
    RecordQuery(
        "expert",
        ("channel", "topic"),
        "SELECT room, topic FROM expert WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4"
        " ORDER BY room, topic",
    ),
    RecordQuery(
        "expert_request",
        ("answer", "asked"),
        "SELECT answer, asker = ?3 FROM expert_request WHERE platform = ?1 AND workspace = ?2"
        " AND ?3 IN (asker, person) AND ?4 = ?4 ORDER BY asked_at, answer",
    ),
    RecordQuery(
        "unread_file",
        ("channel", "time", "name", "reason"),
        f"SELECT room, time, name, reason FROM unread_file WHERE {_OF_WORKSPACE} AND author = ?3"
        " AND ?1 || ?2 = ?1 || ?2 ORDER BY time, key",
    ),
    RecordQuery(
        "digest",
        ("channel", "schedule"),
        "SELECT room, schedule FROM digest WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4"
        " ORDER BY room",
    ),
    RecordQuery(
        "watch",
        ("id", "kind", "text", "time"),
        "SELECT id, kind, subject, created_at FROM watch WHERE platform = ?1 AND workspace = ?2 AND person = ?3"
        " AND ?4 = ?4 ORDER BY created_at, id",
    ),
    RecordQuery(
        "contradiction",
        ("id", "time"),
        "SELECT contradiction, time FROM contradiction_notice WHERE platform = ?1 AND workspace = ?2 AND person = ?3"
        " AND ?4 = ?4 ORDER BY time, contradiction",
    ),
    RecordQuery(
        "contradiction_decision",
        ("id", "state", "time"),
        "SELECT id, state, time FROM contradiction WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4"
        " ORDER BY time, id",
    ),
    RecordQuery(
        "contradictions_off",
        ("workspace",),
        "SELECT workspace FROM contradiction_off WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4",
    ),
    RecordQuery(
        "weekly_report",
        ("time",),
        "SELECT due_at FROM manager_report WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4",
    ),
    RecordQuery(
        "source",
        ("id", "name", "address", "channel"),
        "SELECT id, name, address, room FROM source WHERE added_by = ?1 || ':' || ?2 || ':' || ?3 AND ?4 = ?4"
        " ORDER BY name, id",
    ),
    RecordQuery(
        "access_token",
        ("id", "name", "permissions", "time"),
        "SELECT id, name, permissions, created_at FROM access_token WHERE platform = ?1 AND workspace = ?2"
        " AND person = ?3 AND ?4 = ?4 ORDER BY created_at, id",
    ),
    RecordQuery(
        "opt_out",
        ("ended_at",),
        "SELECT ended_at FROM opt_out WHERE platform = ?1 AND workspace = ?2 AND person = ?3 AND ?4 = ?4",
    ),
    RecordQuery(
        "audit_entry",
        ("number", "time", "action", "state", "door", "channel", "details"),
        "SELECT number, time, action, state, door, place, details FROM audit_entry WHERE (actor IN (SELECT reference"
        " FROM audit_person WHERE platform = ?1 AND workspace = ?2 AND person = ?3) OR target IN (SELECT reference"
        " FROM audit_person WHERE platform = ?1 AND workspace = ?2 AND person = ?3)) AND ?4 = ?4 ORDER BY number",
    ),
)
TIMES = ("time", "ended_at")
FLAGS = ("up", "asked", "wrote", "verified")


class PersonalRecords:
    """Lists what is stored about a person of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, platform: str, workspace: str, person: str) -> list[Record]:
        """All records about a person, each with its `kind`; times are in ISO 8601."""
        bound = (platform, workspace, person, f"{platform}:{workspace}:")
        found = list["Record"]()
        for query in QUERIES:
            rows = await self._database.fetch_all(query.sql, bound)
            found += [{"kind": query.kind, **_to_record(query, row)} for row in rows]
        return found


def _to_record(query: RecordQuery, row: tuple[Any, ...]) -> Record:
    return {name: _to_plain(name, value) for name, value in zip(query.columns, row, strict=True)}


def _to_plain(name: str, value: Any) -> Any:
    if name in TIMES:
        time = from_micros(value)
        return time.isoformat() if time else None
    return bool(value) if name in FLAGS else value
