"""What the audit log says of a request and of its results, and the entries of each of them.

Ids, names of settings and numbers are kept, never texts.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bot.audit import UNKNOWN, Change, ChangeRecord, clean_id, describe_sources, hide_person, is_personal, recording
from bot.capabilities.access import requests as tokens
from bot.capabilities.access.tokens import find_token_id
from bot.capabilities.documents.requests import UploadResult
from bot.capabilities.management import requests as management
from bot.capabilities.results import (
    Corrected,
    CorrectionMade,
    Erased,
    FactAdded,
    Forgotten,
    HistoryImportResult,
    IngestResult,
    TokenCreated,
)
from bot.ingest.sources.places import OPEN
from bot.platform.models import Location
from bot.store import Subject
from bot.store.access.audit_log import NOBODY, OWNER, AuditEvent
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from bot.capabilities.access.reading import QuestionRecord
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.row import Capability
    from bot.store.access.audit_log import AuditLog

log = structlog.get_logger(__name__)

# Fields of requests that hold an id, a number or a word of a list. Any other field may hold a text.
ID_FIELDS = (
    *("answer", "content", "days", "direct_messages", "estimate", "export_format", "forget_missing", "id", "minutes"),
    *("part_of", "permissions", "platform", "repair", "requests_per_minute", "restored", "space"),
    "workspace",
)
ROOM_FIELDS = ("room", "channel")
# Values of settings that say how something is set; any other may be a text.
SETTING_WORDS = frozenset(
    {
        *("on", "off", "default", "all", "mention", "thread", "messages", "files", "everyone", "members", "managers"),
        *("mix", "local", "global", "hybrid", "naive"),
    }
)


def describe_request(action: str, request: object, actor: Subject) -> Change:
    """What the log says of a request; of settings their names, and no values."""
    details: dict[str, str | int | list[str]] = {}
    for name in ID_FIELDS:
        value = getattr(request, name, None)
        if isinstance(value, tuple) and value:
            details[name] = [clean_id(str(id_)) for id_ in value]
        elif isinstance(value, str | int) and value:
            details[name] = clean_id(value) if isinstance(value, str) else int(value)
    if isinstance(request, tokens.RevokeToken):
        details["id"] = find_token_id(request.id) or UNKNOWN
    if isinstance(request, management.ChangeChannel):
        details["settings"] = sorted(_describe_setting(*setting) for setting in request.values)
    place = next((str(value) for name in ROOM_FIELDS if (value := getattr(request, name, ""))), "")
    return Change(action, clean_id(place), _find_target(request, actor), details)


def _describe_setting(name: str, value: str) -> str:
    return f"{clean_id(name)}={value}" if value in SETTING_WORDS else clean_id(name)


def _find_target(request: object, actor: Subject) -> Subject:
    """The person whom a request is about, if it is somebody else than who asks."""
    match request:
        case management.AddExpert(person=person) | management.RemoveExpert(person=person):
            return Subject(actor.platform, actor.workspace, person)
        case tokens.CreateToken(subject=subject):
            return subject
    return NOBODY


def find_result_target(result: object) -> Subject:
    """The person whom a change is about, if its request does not say in which workspace: who logged in."""
    return result.token.subject if isinstance(result, TokenCreated) else NOBODY


def describe_result(caller: Caller, result: object) -> Mapping[str, str | int | list[str]]:
    """What the log says of a result besides: what came into being, or went; what is of one person alone is counted."""
    found: dict[str, str | int | list[str]] = {}
    match result:
        case Forgotten(keys=keys, private=private, passages=passages, receipt=receipt):
            found = {"documents": [*keys], "private": private, "passages": passages, "receipt": receipt.get("id", "")}
        case Erased(receipt=receipt) if receipt:
            found = {"receipt": str(receipt["id"])}
        case Corrected(space=space, undo=undo) | CorrectionMade(space=space, undo=undo):
            found = {"space": hide_person(space), "correction": undo}
        case FactAdded(key=key):
            found = {"private": 1} if caller.is_direct else {"documents": [hide_person(key)]}
        case TokenCreated(token=token):
            found = {"token": token.id}
        case UploadResult(documents=documents):
            named = [document.key for document in documents if not is_personal(document.space)]
            found = {"documents": named, "private": len(documents) - len(named)}
        case IngestResult(documents=documents, changed=changed):
            found = {"count": documents, "changed": changed}
        case HistoryImportResult(channels=channels, messages=messages):
            found = {"channels": channels, "messages": messages}
    return {name: value for name, value in found.items() if value}


def describe_caller(caller: Caller) -> AuditEvent:
    """An event by a caller, of which only who asks and where is known.

    Direct messages are no place: they would tell who writes there, after that person is forgotten, too.
    """
    place = caller.place.room if caller.place is not None and not caller.is_direct else ""
    details = {"token": caller.token} if caller.token else {}
    actor: Subject | str = OWNER if caller.is_owner else caller.subject
    return AuditEvent("", "", actor, caller.door, clean_id(place), details=details)


@asynccontextmanager
async def record_request(
    deps: Deps, caller: Caller, row: Capability, request: object
) -> AsyncIterator[ChangeRecord | None]:
    """Write that a request of a caller begins, and how it ends, if the log has entries of its capability.

    A request that is not confirmed, or a rehearsal, only says what it would change, so it has none.
    Raises EngineError if nothing can be written, except for somebody on this machine.
    """
    if not row.audited or not getattr(request, "confirmed", True) or getattr(request, "dry_run", False):
        yield None
        return
    audit, change = await _open_log(deps, caller), describe_request(row.name, request, caller.subject)
    change = replace(change, place=await _hide_direct_messages(deps, caller, change.place))
    strict = not _is_of_machine(caller)
    async with recording(audit, describe_caller(caller), change, strict=strict) as record:
        yield record


async def _hide_direct_messages(deps: Deps, caller: Caller, place: str) -> str:
    """A room that is named, unless it is direct messages; of a person, unless it might be, or is of others."""
    own, is_person = caller.subject, caller.kind == "person"
    room = Location.from_room(place) if ":" in place else Location(own.platform, own.workspace, place)
    if place in {"", OPEN} or not (room.platform and room.channel):
        return place
    if is_person and (room.platform, room.workspace) not in {(own.platform, own.workspace), (own.platform, "")}:
        return ""
    try:
        audience = (await deps.parts.open()).access.audience_of(own)
        is_direct = await (audience.is_direct(room) if is_person else audience.is_known_direct(room))
    except EngineError:
        is_direct = is_person
    return "" if is_direct else place


def _is_of_machine(caller: Caller) -> bool:
    """Whether somebody asks who has the data directory: they may copy it from a full disk."""
    return caller.kind != "person" and not caller.token


async def _open_log(deps: Deps, caller: Caller) -> AuditLog | None:
    try:
        return (await deps.parts.open()).store.audit
    except EngineError as error:
        if not _is_of_machine(caller):
            raise
        log.warning("audit.not_written", error=type(error).__name__)
        return None


async def record_question(deps: Deps, caller: Caller, action: str, record: QuestionRecord) -> None:
    """Write who asked a question, how it ended, and what its answer drew on; the question itself is not kept.

    It has ended, so a failure is only told to whoever runs the program.
    """
    event = describe_caller(caller)
    details = {**event.details, **describe_sources(record.cited, record.shown)}
    try:
        store = (await deps.parts.open()).store
        await store.audit.append(replace(event, action=action, state=record.outcome, details=details))
    except EngineError as error:
        log.error("audit.not_written", action=action, error=type(error).__name__)  # noqa: TRY400 - no bug
