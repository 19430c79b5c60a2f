"""Tables of the audit log: entries, the chain of hashes between them, and who the references of people mean.

An entry is only ever added; what is older than the retention period goes from the beginning, and the hash of the last
one that went is kept, so that the rest can be checked. An entry names a person by a random reference. Which person it
is stands in a table of its own, and is deleted when they are forgotten: the entry stays as it is, and names nobody.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING

from bot.store.models import Subject
from engine.errors import EngineError
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bot.store.database import Database
    from engine import Clock
    from engine.storage.sql.connection import Connection

    Details = Mapping[str, str | int | Sequence[str]]


SYSTEM, OWNER, TERMINAL_SPACE = "system", "owner", "space:"  # who acts, if it is no person
NOBODY = Subject()
_COLUMNS = "number, time, action, state, door, actor, target, workspace, place, details, hash"
HEAD, ANCHOR = "head", "anchor"  # the newest entry, and the last one that retention removed
BATCH = 1000  # entries that are checked at once
REFERENCE_BYTES = 8
FORGOTTEN = "audit-retention"


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What is written to the log.

    `action`: what was asked for; `state`: how far it got. `actor`: a person or a space, or a reference that is known
    already. `door`: where they asked: chat, page, api, mcp or cli. `place`: the room. `target`: the person whom it was
    about. `details`: ids and numbers, never texts.
    """

    action: str
    state: str
    actor: Subject | str
    door: str = ""
    place: str = ""
    workspace: str = ""
    target: Subject = NOBODY
    details: Details = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry as it is stored.

    `time`: microseconds since 1970. `actor` and `target`: references of people, or who else acted. `details`: JSON.
    `hash`: of everything before it in this entry, and of the hash of the entry before.
    """

    number: int
    time: int
    action: str
    state: str
    door: str
    actor: str
    target: str
    workspace: str
    place: str
    details: str
    hash: str

    @property
    def recorded_at(self) -> datetime:
        """The time at which the entry was written."""
        return from_micros(self.time) or EPOCH


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """The end of the chain up to an entry; of number 0 and without a hash before the first one."""

    number: int = 0
    hash: str = ""


def dump_details(details: Details) -> str:
    """The details of an event as JSON, the same for the same details."""
    return json.dumps(details, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def compute_hash(content: Sequence[str | int], previous: str) -> str:
    """The hash of an entry: of its number and other columns in their order, and of the hash of the one before."""
    canonical = json.dumps([previous, *content], ensure_ascii=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


def follow_chain(
    start: ChainPoint, entries: Iterable[AuditEntry], last: ChainPoint | None = None
) -> tuple[ChainPoint, str]:
    """Follow the entries after a point in their order; returns the last good one, and what is wrong after it, if so.

    `last`: an entry of the chain by its number, with the hash that it had when it was added.
    """
    point = start
    for entry in entries:
        if entry.number != point.number + 1:
            return point, f"entry {point.number + 1} is missing"
        if entry.hash != compute_hash(list_content(entry), point.hash):
            return point, f"entry {entry.number} was changed"
        if last is not None and entry.number == last.number and entry.hash != last.hash:
            return point, f"entry {entry.number} was changed, or one before it"
        point = ChainPoint(entry.number, entry.hash)
    return point, ""


def list_content(entry: AuditEntry) -> tuple[str | int, ...]:
    """The columns of an entry that its hash is about."""
    who = (entry.door, entry.actor, entry.target, entry.workspace, entry.place)
    return (entry.number, entry.time, entry.action, entry.state, *who, entry.details)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are listed, the newest first: those before a number; empty fields do not filter.

    `workspace`: `platform:workspace`.
    """

    limit: int = 100
    before: int = 0
    action: str = ""
    workspace: str = ""
    person: Subject = NOBODY


@dataclass(frozen=True, slots=True)
class ChainReport:
    """How many entries there are, the end of their chain, and what is wrong with the first bad one, if anything."""

    entries: int
    head: ChainPoint
    problem: str = ""


class BrokenAuditLog(EngineError):
    """An entry of the audit log was changed or removed; the message says which."""

    hint = "Compare it with a backup. `threadlore verify` shows the state of the log."


class AuditLog:
    """The audit log. Each method is a transaction of its own; `append_event` is a part of one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def append(self, event: AuditEvent) -> AuditEntry:
        """Add an entry, and return it."""
        return await self._database.write(append_event, event, self._clock.now())

    async def list(self, wanted: AuditFilter) -> list[AuditEntry]:
        """The newest entries that pass a filter."""
        return await self._database.read(_list_entries, wanted)

    async def find_people(self, references: Iterable[str]) -> Mapping[str, Subject]:
        """The people whom references mean; those of forgotten people are left out."""
        sql = (
            "SELECT reference, platform, workspace, person FROM audit_person"
            " WHERE reference IN (SELECT value FROM @list(?))"
        )
        rows = await self._database.fetch_all(sql, (text_list(sorted({*references})),))
        return {row[0]: Subject(*row[1:]) for row in rows}

    async def get_head(self) -> ChainPoint:
        """The newest entry: whoever keeps its number and hash elsewhere can tell later that nothing was removed."""
        return (await self._database.read(_load_points))[1]

    async def check(self) -> ChainReport:
        """Follow the whole chain; again from its new beginning, if retention removed entries meanwhile."""
        while True:
            anchor, head = await self._database.read(_load_points)
            report = await self._follow(anchor, head)
            if not report.problem or (await self._database.read(_load_points))[0] == anchor:
                return report

    async def _follow(self, point: ChainPoint, last: ChainPoint) -> ChainReport:
        """Follow the chain after a point; `last`: an entry that it must reach as it is."""
        entries = 0
        while found := await self._database.read(_list_after, point.number):
            reached, problem = follow_chain(point, found, last)
            entries += reached.number - point.number
            if problem:
                return ChainReport(entries, reached, problem)
            point = reached
        is_whole = point.number >= last.number  # entries may have been added since the points were read
        return ChainReport(entries, point, "" if is_whole else f"entry {point.number + 1} is missing")

    async def delete_before(self, time: datetime) -> int:
        """Delete the oldest entries, all from before a time; returns how many.

        Raises BrokenAuditLog while the chain is broken; then none go.
        """
        oldest = await self._database.fetch_one("SELECT time FROM audit_entry ORDER BY number LIMIT 1")
        if oldest is None or oldest[0] >= to_micros(time):
            return 0
        if problem := (await self.check()).problem:
            raise BrokenAuditLog(problem)
        return await self._database.write(_delete_before, time, self._clock.now())

    async def forget_person(self, platform: str, workspace: str, person: str) -> None:
        """Forget whom the references of a person mean; the entries stay."""
        await self._database.execute(
            "DELETE FROM audit_person WHERE platform = ? AND workspace = ? AND person = ?",
            (platform, workspace, person),
        )


def append_event(db: Connection, event: AuditEvent, now: datetime) -> AuditEntry:
    """Add an entry within a transaction, and return it."""
    _, head = _load_points(db)
    actor = event.actor if isinstance(event.actor, str) else _refer_to(db, event.actor)
    draft = AuditEntry(
        head.number + 1,
        int(to_micros(now) or 0),
        *(event.action, event.state, event.door, actor, _refer_to(db, event.target)),
        *(_find_workspace(event), event.place, dump_details(event.details), ""),
    )
    entry = replace(draft, hash=compute_hash(list_content(draft), head.hash))
    db.execute(f"INSERT INTO audit_entry ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(entry))
    _save_point(db, HEAD, ChainPoint(entry.number, entry.hash))
    return entry


def _find_workspace(event: AuditEvent) -> str:
    """The workspace in which somebody acted, by which auditors are limited."""
    actor = event.actor
    if event.workspace or isinstance(actor, str) or actor.space or not actor.platform:
        return event.workspace
    return f"{actor.platform}:{actor.workspace}"


def _refer_to(db: Connection, subject: Subject) -> str:
    """The reference of a person, which the first entry about them makes; of a space, its name."""
    if subject.space:
        return f"{TERMINAL_SPACE}{subject.space}"
    if not subject.person:
        return SYSTEM if subject.platform else ""
    who = (subject.platform, subject.workspace, subject.person)
    sql = "SELECT reference FROM audit_person WHERE platform = ? AND workspace = ? AND person = ?"
    for (known,) in db.execute_fetchall(sql, who):
        return str(known)
    reference = f"person:{token_hex(REFERENCE_BYTES)}"
    db.execute("INSERT INTO audit_person VALUES (?, ?, ?, ?)", (reference, *who))
    return reference


def _load_points(db: Connection) -> tuple[ChainPoint, ChainPoint]:
    """The anchor and the head of the chain."""
    found = {
        name: ChainPoint(number, hash_)
        for name, number, hash_ in db.execute_fetchall("SELECT name, number, hash FROM audit_point")
    }
    return found.get(ANCHOR, ChainPoint()), found.get(HEAD, ChainPoint())


def _save_point(db: Connection, name: str, point: ChainPoint) -> None:
    db.execute(
        "INSERT INTO audit_point VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET number = excluded.number, hash = excluded.hash",
        (name, point.number, point.hash),
    )


def _list_after(db: Connection, number: int) -> list[AuditEntry]:
    sql = f"SELECT {_COLUMNS} FROM audit_entry WHERE number > ? ORDER BY number LIMIT {BATCH}"
    return [AuditEntry(*row) for row in db.execute_fetchall(sql, (number,))]


def _list_entries(db: Connection, wanted: AuditFilter) -> list[AuditEntry]:
    conditions, values = ["1 = 1"], list[str | int]()
    for condition, value in (
        ("number < ?", wanted.before),
        ("action = ?", wanted.action),
        ("workspace = ?", wanted.workspace),
    ):
        if value:
            conditions.append(condition)
            values.append(value)
    if wanted.person.person:
        of_person = "(SELECT reference FROM audit_person WHERE platform = ? AND workspace = ? AND person = ?)"
        who = (wanted.person.platform, wanted.person.workspace, wanted.person.person)
        conditions.append(f"(actor IN {of_person} OR target IN {of_person})")
        values += [*who, *who]
    sql = f"SELECT {_COLUMNS} FROM audit_entry WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?"
    return [AuditEntry(*row) for row in db.execute_fetchall(sql, (*values, wanted.limit))]


def _delete_before(db: Connection, time: datetime, now: datetime) -> int:
    """Delete the entries before the first one that is kept, and record that."""
    before, head = _load_points(db)
    [[kept]] = db.execute_fetchall("SELECT MIN(number) FROM audit_entry WHERE time >= ?", (to_micros(time),))
    last = head.number if kept is None else kept - 1
    rows = db.execute_fetchall("SELECT number, hash FROM audit_entry WHERE number = ?", (last,))
    if last <= before.number or not rows:
        return 0
    _save_point(db, ANCHOR, ChainPoint(*rows[0]))
    db.execute("DELETE FROM audit_entry WHERE number <= ?", (last,))
    db.execute(
        "DELETE FROM audit_person WHERE reference NOT IN (SELECT actor FROM audit_entry)"
        " AND reference NOT IN (SELECT target FROM audit_entry)"
    )
    count = last - before.number
    append_event(db, AuditEvent(FORGOTTEN, "done", SYSTEM, details={"entries": count, "last": last}), now)
    return int(count)
