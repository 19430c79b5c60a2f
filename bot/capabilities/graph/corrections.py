"""Corrections of the graph by hand; all of them can be undone."""

from __future__ import annotations

import secrets
from contextlib import aclosing
from typing import TYPE_CHECKING

import structlog

from bot.capabilities.access.home import find_home
from bot.capabilities.documents.lookup import build_scope, list_with_inner, match_documents
from bot.capabilities.ingest.progress import run_with_progress, wait_until_applied
from bot.capabilities.results import Corrected, CorrectionMade, DuplicatesResult, FactAdded
from bot.i18n import N_, gettext
from bot.ingest.documents import Poster
from bot.platform.models import Location
from bot.store import RecordedChange
from bot.texts.corrections import (
    format_description,
    format_merge,
    format_separation,
    format_split,
    format_subject,
    format_unmerge,
    format_unsplit,
    format_visibility,
)
from engine import build_fact
from engine.errors import EngineError, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.access.home import Home
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import BotParts, Deps
    from bot.capabilities.requests import (
        AddFact,
        FindDuplicates,
        Hide,
        Merge,
        Separate,
        SetDescription,
        Split,
        UndoCorrection,
    )
    from bot.capabilities.results import OperationResult
    from engine import CorrectionChange, DuplicateReport

log = structlog.get_logger(__name__)

UNDONE = N_("The correction is undone.")
NO_SUCH_UNDO = N_("There is no such correction to undo here; it may be too old.")
UNDO_HINT = N_("The id stands below what was corrected. Anything older can be changed back by another correction.")
ID_BYTES = 6  # typed by people
STATED = "stated"  # the room of facts of the terminal


async def merge(deps: Deps, caller: Caller, request: Merge) -> AsyncGenerator[OperationResult]:
    """Make a name another name of an entity, or undo a merge."""
    engine, name, into = deps.engine, request.name, request.into
    if into:
        home = await find_home(deps, caller, request.space, name, N_("merge names"))
        change = await engine.corrections.merge(home.space, name, into, room=home.room, allow_unknown=caller.is_owner)
        message = format_merge(name, into, change.unknown)
    else:
        home = await find_home(deps, caller, request.space, name, N_("separate names"))
        change = await engine.corrections.unmerge(home.space, name, room=home.room)
        message = format_unmerge(name)
    async for result in _finish(deps, home, change, message):
        yield result


async def separate(deps: Deps, caller: Caller, request: Separate) -> AsyncGenerator[OperationResult]:
    """Record that two entities are different; their join ends."""
    home = await find_home(deps, caller, request.space, request.name, N_("separate names"))
    change = await deps.engine.corrections.separate(
        home.space, request.name, request.other, room=home.room, allow_unknown=caller.is_owner
    )
    async for result in _finish(deps, home, change, format_separation(request.name, request.other)):
        yield result


async def split(deps: Deps, caller: Caller, request: Split) -> AsyncGenerator[OperationResult]:
    """Tell two things under one name apart, or give a part back."""
    made, name, part = deps.engine.corrections, request.name, request.part
    home = await find_home(deps, caller, request.space, name, N_("separate names"))
    if part or request.type or request.document:
        types = [request.type] if request.type else []
        documents = await _find_documents(deps, home.space, request.document) if request.document else []
        change = await made.split(home.space, name, part, types=types, documents=documents, room=home.room)
        message = format_split(name, part, request.type)
    else:
        change = await made.unsplit(home.space, name, room=home.room)
        message = format_unsplit(name)
    async for result in _finish(deps, home, change, message):
        yield result


async def _find_documents(deps: Deps, space: str, words: str) -> list[str]:
    """The keys of the document of a space that the words mean, and of what is within it. Raises NotFound."""
    documents = await deps.engine.documents.list(build_scope([space]))
    return [key for document in match_documents(words, documents) for key in list_with_inner(document.key, documents)]


async def set_description(deps: Deps, caller: Caller, request: SetDescription) -> AsyncGenerator[OperationResult]:
    """Override a description, or restore the original."""
    name, other, description = request.name, request.other, request.description
    home = await find_home(deps, caller, request.space, name, N_("change descriptions"))
    change = await deps.engine.corrections.describe(home.space, name, description, other, room=home.room)
    async for result in _finish(deps, home, change, format_description(format_subject(name, other), description)):
        yield result


async def hide(deps: Deps, caller: Caller, request: Hide) -> AsyncGenerator[OperationResult]:
    """Hide an entity or a relation, or show it again."""
    what = N_("hide names") if request.hidden else N_("show names again")
    home = await find_home(deps, caller, request.space, request.name, what)
    act = deps.engine.corrections.hide if request.hidden else deps.engine.corrections.unhide
    change = await act(home.space, request.name, request.other, room=home.room)
    message = format_visibility(format_subject(request.name, request.other), hidden=request.hidden)
    async for result in _finish(deps, home, change, message):
        yield result


async def undo_correction(deps: Deps, caller: Caller, request: UndoCorrection) -> AsyncGenerator[OperationResult]:
    """Remove what a correction made, and restore what it removed. Raises CorrectionChanged, NotFound."""
    recorded = await _find_recorded(deps, request.id) if request.id else None
    change, space = (recorded.change, recorded.space) if recorded else (request.change, request.space)
    home = await find_home(deps, caller, space, request.name, N_("undo corrections"))
    if recorded and home.space != recorded.space:
        raise NotFound(gettext(NO_SUCH_UNDO), hint=gettext(UNDO_HINT))
    undone = await deps.engine.corrections.undo(home.space, change, room=home.room, allow_unknown=caller.is_owner)
    async for result in _finish(deps, home, undone, gettext(UNDONE)):
        yield result


async def _find_recorded(deps: Deps, id_: str) -> RecordedChange:
    """What a correction changed. Raises NotFound."""
    found = await (await deps.parts.open()).store.correction_changes.get(id_)
    if found is None:
        raise NotFound(gettext(NO_SUCH_UNDO), hint=gettext(UNDO_HINT))
    return found


async def _finish(deps: Deps, home: Home, change: CorrectionChange, message: str) -> AsyncGenerator[OperationResult]:
    """Yield what was made, at once, then what is told when it can be seen everywhere."""
    undo = await _record(deps, home, change)
    yield CorrectionMade(home.space, change, undo)
    async with aclosing(wait_until_applied(deps.engine, build_scope([home.space]))) as steps:
        async for step in steps:
            yield step
    yield Corrected(message, home.space, change, undo)


async def _record(deps: Deps, home: Home, change: CorrectionChange) -> str:
    """The id by which a change can be undone; "" if nothing changed, or it cannot be kept. The correction is made."""
    if not (change.made or change.removed):
        return ""
    id_ = secrets.token_hex(ID_BYTES)
    try:
        store = (await deps.parts.open()).store
        await store.correction_changes.add(RecordedChange(id_, home.space, change), deps.clock.now())
    except EngineError as error:
        log.warning("correction.undo_not_kept", error=type(error).__name__)
        return ""
    return id_


async def add_fact(deps: Deps, caller: Caller, request: AddFact) -> AsyncGenerator[OperationResult]:
    """Add a fact as a document; deleting the document removes it. Raises NotAllowed, InvalidQuestion."""
    fact = build_fact(request.name, request.description, request.other, request.type, request.keywords)
    if caller.kind == "person":
        parts = await deps.parts.open()
        place = caller.place or await _find_place(parts, caller, request.channel)
        poster = Poster(caller.subject.person, caller.may_post)
        key = await parts.ingest.manual_facts.add_fact(place, poster, fact, caller.time or deps.clock.now())
        yield FactAdded(f"Added as {key}.", key)
        return
    space = caller.subject.space
    key = await deps.engine.corrections.add_facts(space, STATED, fact)
    async with aclosing(wait_until_applied(deps.engine, build_scope([space]))) as steps:
        async for step in steps:
            yield step
    yield FactAdded(f"Added as {key}. To remove it: `threadlore forget {key}`", key)


async def _find_place(parts: BotParts, caller: Caller, room: str) -> Location:
    """The channel with this id in the workspace of a person, who can read it. Raises NotFound."""
    place, subject = Location.from_room(room), caller.subject
    is_own = (place.platform, place.workspace) == (subject.platform, subject.workspace)
    if is_own and place.channel and await parts.access.can_read_room(subject, place.room):
        return place
    raise NotFound("There is no channel with this id that you can read.", hint="The list of documents shows their ids.")


async def find_duplicates(deps: Deps, caller: Caller, request: FindDuplicates) -> AsyncGenerator[OperationResult]:
    """Yield likely duplicates and automatic joins; for the owner, new names are compared first."""
    engine, reports = deps.engine, list["DuplicateReport"]()

    async def find() -> None:
        compare_all = request.compare_all and caller.is_owner
        reports.append(await engine.corrections.find_duplicates(caller.scope, request.limit, compare_all=compare_all))

    async for step in run_with_progress(engine, "comparing names", find()):
        yield step
    yield DuplicatesResult(reports[0])
