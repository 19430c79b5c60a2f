"""Write what somebody changes or copies to the audit log: before it is done, and when it ends.

The first entry is durable before anything happens, so that nothing changes without one, in whichever databases it does.
The second one says how it ended, and what came into being or went. A first entry without a second one: the process
ended in between.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog

from bot.errors import InvalidToken, NotAllowed, NotPermitted, TooManyRequests
from bot.store.audit.chain import NOBODY, AuditEvent
from engine.errors import EngineError, InvalidDocument, InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from bot.store import Subject
    from bot.store.audit.chain import AuditEntry, Details
    from bot.store.audit.log import AuditLog

log = structlog.get_logger(__name__)

REFUSED = (InvalidDocument, InvalidQuestion, InvalidToken, NotAllowed, NotFound, NotPermitted, TooManyRequests)


@dataclass(frozen=True, slots=True)
class Change:
    """What is asked for: `place` is the room, `target` the person whom it is about."""

    action: str
    place: str = ""
    target: Subject = NOBODY
    details: Details = field(default_factory=dict)


@dataclass
class ChangeRecord:
    """What is known of a change by now; `details` go into the entry of its end."""

    details: dict[str, str | int | Sequence[str]] = field(default_factory=dict)
    has_result: bool = False

    def observe(self, details: Details) -> None:
        """Keep what a result says."""
        self.has_result = True
        self.details.update(details)


@asynccontextmanager
async def recording(
    audit: AuditLog | None, by: AuditEvent, change: Change, *, strict: bool = True
) -> AsyncIterator[ChangeRecord]:
    """Write that a change begins, and how it ends; nothing without a log. `by`: who asked for it, and where.

    Raises the error of the database if the beginning cannot be written, unless it is not `strict`: whoever has the data
    directory may copy it from a full disk.
    """
    event = _build_event(change, by)
    record, began = ChangeRecord(), await _begin(audit, event, strict=strict)
    try:
        yield record
    except BaseException as error:
        await _end(audit, event, began, record, _describe_end(error, record))
        raise
    await _end(audit, event, began, record, "done")


async def _begin(audit: AuditLog | None, event: AuditEvent, *, strict: bool) -> AuditEntry | None:
    if audit is None:
        return None
    try:
        return await audit.append(replace(event, state="begun"))
    except EngineError as error:
        if strict:
            raise
        log.warning("audit.not_written", action=event.action, error=type(error).__name__)
        return None


async def _end(
    audit: AuditLog | None, event: AuditEvent, began: AuditEntry | None, record: ChangeRecord, state: str
) -> None:
    """Write the end of a change that began. It has happened, so a failure is only told to whoever runs the program."""
    if audit is None or began is None:
        return
    ended = AuditEvent(
        *(event.action, state, began.actor, event.door, event.place, began.workspace, event.target),
        {"of": began.number, **record.details},
    )
    try:
        await audit.append(ended)
    except EngineError as error:
        log.error("audit.not_written", action=event.action, error=type(error).__name__)  # noqa: TRY400 - no bug


def _describe_end(error: BaseException, record: ChangeRecord) -> str:
    if isinstance(error, GeneratorExit) and record.has_result:
        return "done"  # whoever asked has what they wanted
    if isinstance(error, REFUSED):
        return "refused"
    return "failed" if isinstance(error, Exception) else "stopped"


def _build_event(change: Change, by: AuditEvent) -> AuditEvent:
    """The event of a change by somebody at a door."""
    details, place = {**by.details, **change.details}, change.place or by.place
    return replace(by, action=change.action, place=place, target=change.target, details=details)
