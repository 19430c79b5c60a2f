"""What is written to the audit log, and where: of requests that change or copy something, and of questions.

The first entry of a change is durable before anything happens, so that nothing changes without one, in whichever
databases it does. The second one says how it ended, and what came into being or went. A first entry without a second
one: the process ended in between.

Ids stand in entries without texts, and without the people whom some of them name.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import structlog

from bot.errors import InvalidToken, NotAllowed, NotPermitted, TooManyRequests
from bot.store.access.audit_log import NOBODY, AuditEvent
from bot.store.models import passage_key
from engine.errors import EngineError, InvalidDocument, InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from bot.store import Subject
    from bot.store.access.audit_log import AuditEntry, AuditLog, Details

log = structlog.get_logger(__name__)

REFUSED = (InvalidDocument, InvalidQuestion, InvalidToken, NotAllowed, NotFound, NotPermitted, TooManyRequests)
MAX_ID_LENGTH = 300  # characters
_PERSONAL = re.compile(r"^([^:]+:[^:]*:)dm:[^:]+")
_ID = re.compile(rf"[A-Za-z0-9_.:@/#=+~-]{{1,{MAX_ID_LENGTH}}}")
UNKNOWN = "unknown"
MAX_IDS = 200  # of one answer; the number of further ones is kept


@dataclass(frozen=True, slots=True)
class Change:
    """What is asked for: `place` is the room, `target` the person whom it is about."""

    action: str
    place: str = ""
    target: Subject = NOBODY
    details: Details = field(default_factory=dict)


@dataclass
class ChangeRecord:
    """What is known of a change by now; `details` go into the entry of its end.

    `target`: the person whom it is about, if only a result says who that is.
    """

    details: dict[str, str | int | Sequence[str]] = field(default_factory=dict)
    has_result: bool = False
    target: Subject = NOBODY

    def observe(self, details: Details, target: Subject = NOBODY) -> None:
        """Keep what a result says."""
        self.has_result = True
        self.details.update(details)
        self.target = self.target if target == NOBODY else target


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
    target = event.target if record.target == NOBODY else record.target
    ended = AuditEvent(
        *(event.action, state, began.actor, event.door, event.place, began.workspace, target),
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


def is_personal(space: str) -> bool:
    """Whether a space is of what one person shared with the bot alone; its name contains the person's id."""
    return _PERSONAL.match(space) is not None


def hide_person(id_: str) -> str:
    """An id of a space, a room or a document; of a person's own space only that it is one."""
    found = _PERSONAL.match(id_)
    return f"{found[1]}dm" if found else id_


def clean_id(given: str) -> str:
    """An id that somebody typed; what may be a text is unknown."""
    return hide_person(given) if not given or _ID.fullmatch(given) else UNKNOWN


class Located(Protocol):
    """A passage by its place in the engine."""

    @property
    def document(self) -> str: ...
    @property
    def room(self) -> str: ...
    @property
    def passage(self) -> str: ...
    @property
    def space(self) -> str: ...


def describe_sources(cited: Iterable[Located], shown: Iterable[Located] = ()) -> Details:
    """The messages and documents that an answer cites (`sources`), and the documents that were `shown` for it.

    What one person shared with the bot alone is counted (`private`), not named: its ids name them.
    """
    cited, shown = list(cited), list(shown)
    sources = {_identify(located) for located in cited if not is_personal(located.space)}
    documents = {
        located.document for located in (*cited, *shown) if located.document and not is_personal(located.space)
    }
    private = {located.document for located in (*cited, *shown) if is_personal(located.space)}
    return {
        name: value
        for name, value in (
            ("sources", sorted(sources)[:MAX_IDS]),
            ("shown", sorted(documents - sources)[:MAX_IDS]),
            ("private", len(private)),
            ("omitted", max(0, len(sources) - MAX_IDS) + max(0, len(documents - sources) - MAX_IDS)),
        )
        if value
    }


def _identify(source: Located) -> str:
    """The key of a message or a document; a message that is not indexed has no document."""
    return passage_key(source.document or f"{source.room}:window:", source.room, source.passage)
