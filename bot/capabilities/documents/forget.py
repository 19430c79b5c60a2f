"""Forget a document, a chat or a message, and say within which time its bytes leave the disk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.audit import is_personal
from bot.capabilities.documents.lookup import list_with_inner, resolve_documents
from bot.capabilities.erasure.erasing import measure
from bot.capabilities.results import Forgotten, ProgressUpdate
from bot.errors import NotAllowed
from bot.i18n import N_, gettext
from bot.store.models import message_key
from bot.text.document_match import candidate_message_ids, is_message_link
from bot.text.format import format_minutes, format_utc
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import Forget
    from bot.capabilities.results import ErasureRehearsal, OperationResult
    from bot.platform.models import Location
    from bot.store import MessageRecord
    from engine import DocumentInfo
AUTHOR_OR_MANAGER = N_("The author, or a manager, can have it forgotten.")


async def forget(deps: Deps, caller: Caller, request: Forget) -> AsyncGenerator[OperationResult]:
    """Delete a document, a whole chat, or the message that a person's link leads to; or only say what would go.

    Raises NotAllowed and NotFound.
    """
    here = request.working_dir if caller.is_owner else None
    is_message = caller.kind == "person" and is_message_link(request.document)
    try:
        found = await resolve_documents(deps, request.document, caller.scope, here, of_chats=not is_message)
    except NotFound:
        if not is_message:
            raise
        yield await _forget_message(deps, caller, request)
        return
    for document in found:
        await _check_may_forget(deps, caller, await _find_authors(deps, caller, document), f"“{document.title}”")
    listed = await deps.engine.documents.list(caller.scope)
    keys = [key for document in found for key in list_with_inner(document.key, listed)]
    erasure = await measure(deps, caller, lambda planner: planner.plan_documents(keys))
    if request.dry_run:
        yield erasure.rehearse()
        return
    async with erasure.completing("forget", {}):
        for done, key in enumerate(keys):
            yield ProgressUpdate("forgetting", done, len(keys))
            await deps.forget_document(key)
    async for step in erase_bytes(deps):
        yield step
    receipt = await erasure.give_receipt("forget", {})
    yield replace(_describe(deps, request.document, found), receipt=receipt)


async def erase_bytes(deps: Deps) -> AsyncGenerator[ProgressUpdate]:
    """Erase what was forgotten from the files: at once if the process ends; else the engine does it within its time."""
    if deps.ends_soon:
        yield ProgressUpdate("forgetting")
        await deps.engine.maintenance.compact()


def say_forgotten(deps: Deps, what: str) -> str:
    """What was forgotten, and within which time its bytes leave the disk, if they are still there."""
    if deps.ends_soon:
        return f"Forgotten: {what}"
    return f"Forgotten: {what}. Its bytes leave the disk within {format_minutes(deps.context.erasing_seconds)}."


def _describe(deps: Deps, words: str, documents: list[DocumentInfo]) -> Forgotten:
    keys = tuple(info.key for info in documents if not is_personal(info.space))
    private = len(documents) - len(keys)
    if len(documents) > 1:
        return Forgotten(say_forgotten(deps, f"{len(documents)} conversations of {words}"), keys=keys, private=private)
    [document] = documents
    told = say_forgotten(deps, document.key)
    return Forgotten(told, document.title, document.passages, document.room, keys=keys, private=private)


async def _find_authors(deps: Deps, caller: Caller, document: DocumentInfo) -> set[str]:
    """Who wrote or shared a document, if a person asks; empty if it was not ingested from a chat."""
    if caller.kind != "person":
        return set()
    store = (await deps.parts.open()).store
    file = await store.files.get(document.key)
    messages = () if file else await store.messages.list_by_document(document.key)
    return {file.author} if file else {message.author for message in messages}


async def _check_may_forget(deps: Deps, caller: Caller, authors: set[str], what: str) -> None:
    """Raise NotAllowed for a person who neither wrote all of something nor manages the workspace."""
    if caller.kind != "person" or authors == {caller.subject.person}:
        return
    if "manage" not in caller.permissions or not await (await deps.parts.open()).access.is_manager(caller.subject):
        raise NotAllowed(gettext("{what} isn't only yours.").format(what=what), hint=gettext(AUTHOR_OR_MANAGER))


async def _forget_message(deps: Deps, caller: Caller, request: Forget) -> Forgotten | ErasureRehearsal:
    parts = await deps.parts.open()
    found = await _find_message(deps, caller, request.document)
    if found is None:
        raise NotFound(
            gettext("I found no indexed message there that you can read."),
            hint=gettext("It may never have been indexed, or was already forgotten."),
        )
    await _check_may_forget(deps, caller, {found.record.author}, gettext("That message"))
    room, id_ = found.place.room, found.record.id
    erasure = await measure(deps, caller, lambda planner: planner.plan_message(room, id_))
    if request.dry_run:
        return erasure.rehearse()
    async with erasure.completing("forget", {}):
        await parts.ingest.forget_message(found.place, id_)
    receipt = await erasure.give_receipt("forget", {})
    what = f"the message of {format_utc(found.record.time)} and its files"
    done = Forgotten(say_forgotten(deps, what), room=room, time=found.record.time, receipt=receipt)
    if await parts.access.audience_of(caller.subject).is_direct(found.place):
        return replace(done, private=1)
    return replace(done, keys=(message_key(room, id_),))


@dataclass(frozen=True, slots=True)
class _FoundMessage:
    """A message that is indexed, and its channel."""

    place: Location
    record: MessageRecord


async def _find_message(deps: Deps, caller: Caller, address: str) -> _FoundMessage | None:
    """The message that a link leads to, if the caller may read it."""
    parts, subject, scope = await deps.parts.open(), caller.subject, caller.scope
    ids = candidate_message_ids(address, parts.ingest.parse_link_part(subject.platform))
    known = {*await parts.store.channels.list_joined(subject.platform)}
    if caller.place is not None:
        known.add(caller.place.without_thread)
    audience = parts.access.audience_of(subject)
    for place in sorted(known, key=lambda each: (each.channel not in ids, each.room)):
        for record in await parts.store.messages.list_by_ids(place.room, ids):
            if place.room in scope.rooms or await audience.get_home_space(place) in scope.spaces:
                return _FoundMessage(place, record)
    return None
