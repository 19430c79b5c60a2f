"""Show the audit log to the owner of the data and to its auditors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.maintenance.requests import AuditList, AuditRow
from bot.store import Subject
from bot.store.access.audit_log import AuditFilter
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.maintenance.requests import ListAudit
    from bot.capabilities.results import OperationResult
    from bot.store.access.audit_log import AuditEntry

FORGOTTEN = "forgotten"  # the person of a reference
PERSON_HINT = "Name the person as PLATFORM:WORKSPACE:ID."


async def list_audit(deps: Deps, caller: Caller, request: ListAudit) -> AsyncGenerator[OperationResult]:
    """Yield the entries that a caller may see: the owner all of them, an auditor those of their workspace."""
    store, subject = (await deps.parts.open()).store, caller.subject
    workspace = "" if caller.is_owner else f"{subject.platform}:{subject.workspace}"
    person = _parse_person(request.person, caller)
    wanted = AuditFilter(request.limit, request.before, request.action, workspace, person)
    found = await store.audit.list(wanted)
    people = await store.audit.find_people(name for entry in found for name in (entry.actor, entry.target))
    head = await store.audit.get_head()
    yield AuditList(tuple(_describe(entry, people) for entry in found), head.number, head.hash)


def _parse_person(words: str, caller: Caller) -> Subject:
    """The person whose entries are wanted; an auditor names one of their workspace. Raises InvalidQuestion."""
    if not words:
        return Subject()
    if not caller.is_owner and ":" not in words:
        return Subject(caller.subject.platform, caller.subject.workspace, words)
    match words.strip().split(":"):
        case [platform, workspace, person] if platform not in {"", "space"} and person:
            return Subject(platform, workspace, person)  # direct messages of some platforms belong to no workspace
    raise InvalidQuestion(f"“{words}” names no person.", hint=PERSON_HINT)


def _describe(entry: AuditEntry, people: Mapping[str, Subject]) -> AuditRow:
    return AuditRow(
        entry.number,
        entry.recorded_at,
        *(entry.action, entry.state, entry.door, _name(entry.actor, people), _name(entry.target, people)),
        *(entry.workspace, entry.place, entry.details, entry.hash),
    )


def _name(reference: str, people: Mapping[str, Subject]) -> str:
    """The id of a person; that of one who is forgotten is not known any more."""
    if not reference.startswith("person:"):
        return reference
    return str(people[reference]) if reference in people else FORGOTTEN
