"""Entries of the audit log, and the chain of hashes that shows whether one of them was changed or removed. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.store.models import Subject
from engine.storage.sql.fragments import EPOCH, from_micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    Details = Mapping[str, str | int | Sequence[str]]

SYSTEM, OWNER, TERMINAL_SPACE = "system", "owner", "space:"  # who acts, if it is no person
NOBODY = Subject()


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
