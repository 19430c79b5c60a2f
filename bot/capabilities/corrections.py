"""Manual corrections of the graph; all of them can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.document_lookup import build_scope
from bot.capabilities.ingest.progress import run_with_progress, wait_until_applied
from bot.capabilities.results import Completed, Corrected, DuplicatesResult
from bot.texts.corrections import (
    format_description,
    format_merge,
    format_separation,
    format_subject,
    format_unmerge,
    format_visibility,
)
from engine import build_fact

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.requests import AddFact, FindDuplicates, Hide, Merge, Separate, SetDescription, UndoCorrection
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext
    from engine import DuplicateReport

UNDONE = "The correction is undone."


async def merge(engine_context: EngineContext, request: Merge) -> AsyncGenerator[OperationResult]:
    """Merge an entity into another one, or undo a merge."""
    if request.into:
        change = await engine_context.engine.merge(
            request.space, request.name, request.into, room=request.room, allow_unknown=request.allow_unknown
        )
        message = format_merge(request.name, request.into, change.unknown)
    else:
        change = await engine_context.engine.unmerge(request.space, request.name, room=request.room)
        message = format_unmerge(request.name)
    async for step in wait_until_applied(engine_context.engine, build_scope([request.space])):
        yield step
    yield Corrected(message, request.space, change)


async def separate(engine_context: EngineContext, request: Separate) -> AsyncGenerator[OperationResult]:
    """Record that two entities are different; their join ends."""
    change = await engine_context.engine.separate(
        request.space, request.name, request.other, room=request.room, allow_unknown=request.allow_unknown
    )
    async for step in wait_until_applied(engine_context.engine, build_scope([request.space])):
        yield step
    yield Corrected(format_separation(request.name, request.other), request.space, change)


async def find_duplicates(engine_context: EngineContext, request: FindDuplicates) -> AsyncGenerator[OperationResult]:
    """Compare new names, and yield the likely duplicates and the automatic joins."""
    engine, reports = engine_context.engine, list["DuplicateReport"]()

    async def find() -> None:
        reports.append(await engine.find_duplicates(request.scope, request.limit))

    async for step in run_with_progress(engine, "comparing names", find()):
        yield step
    yield DuplicatesResult(reports[0])


async def set_description(engine_context: EngineContext, request: SetDescription) -> AsyncGenerator[OperationResult]:
    """Override a description, or restore the original."""
    change = await engine_context.engine.describe(
        request.space, request.name, request.description, request.other, room=request.room
    )
    async for step in wait_until_applied(engine_context.engine, build_scope([request.space])):
        yield step
    message = format_description(format_subject(request.name, request.other), request.description)
    yield Corrected(message, request.space, change)


async def hide(engine_context: EngineContext, request: Hide) -> AsyncGenerator[OperationResult]:
    """Hide an entity or a relation, or show it again."""
    act = engine_context.engine.hide if request.hidden else engine_context.engine.unhide
    change = await act(request.space, request.name, request.other, room=request.room)
    async for step in wait_until_applied(engine_context.engine, build_scope([request.space])):
        yield step
    message = format_visibility(format_subject(request.name, request.other), hidden=request.hidden)
    yield Corrected(message, request.space, change)


async def undo_correction(engine_context: EngineContext, request: UndoCorrection) -> AsyncGenerator[OperationResult]:
    """Remove what a correction made, and restore what it removed. Raises CorrectionChanged, NotFound."""
    change = await engine_context.engine.undo_correction(
        request.space, request.change, room=request.room, allow_unknown=request.allow_unknown
    )
    async for step in wait_until_applied(engine_context.engine, build_scope([request.space])):
        yield step
    yield Corrected(UNDONE, request.space, change)


async def add_fact(engine_context: EngineContext, request: AddFact) -> AsyncGenerator[OperationResult]:
    """Add a fact as a document; deleting the document removes it."""
    fact = build_fact(request.name, request.description, request.other, request.type, request.keywords)
    key = await engine_context.engine.add_facts(request.space, request.room, fact)
    async for step in wait_until_applied(engine_context.engine, build_scope([request.space])):
        yield step
    yield Completed(f"Added as {key}. To remove it: `threadlore forget {key}`")
