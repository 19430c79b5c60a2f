"""Results of looks at the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time


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
