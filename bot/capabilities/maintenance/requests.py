"""Requests about the audit log, and results of maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class ListAudit:
    """List entries of the audit log, the newest first: those before a number, of an action, or about a person.

    `person`: `PLATFORM:WORKSPACE:ID`, or their id alone for an auditor.
    """

    limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    before: Annotated[int, Field(ge=0)] = 0
    action: Annotated[str, Field(max_length=100)] = ""
    person: Annotated[str, Field(max_length=300)] = ""


@dataclass(frozen=True, slots=True)
class ChannelCount:
    """How many messages of a person are stored of a channel; `name` is empty if they cannot read it now."""

    room: str
    name: str
    messages: int


@dataclass(frozen=True, slots=True)
class MyData:
    """What is stored about a person, counted.

    `records`: the number of each kind, such as `question`. `is_read`: whether what they write is read. `topics`: about
    which they are asked as an expert.
    """

    channels: tuple[ChannelCount, ...]
    files: int
    records: tuple[tuple[str, int], ...]
    topics: tuple[str, ...]
    is_read: bool


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry of the audit log. `who` and `about`: a person by platform, workspace and id, or who else it was.

    `details`: JSON. `hash`: of the entry and of the hash before it.
    """

    number: int
    time: datetime
    action: str
    state: str
    door: str
    who: str
    about: str
    workspace: str
    place: str
    details: str
    hash: str


@dataclass(frozen=True, slots=True)
class AuditList:
    """Entries of the audit log, the newest first, and the number and the hash of the newest of all."""

    entries: tuple[AuditRow, ...]
    head: int = 0
    head_hash: str = ""
