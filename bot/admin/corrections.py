"""Correcting by hand: what a person knows better than what was read. All of it can be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.admin.document_lookup import scope_of
from bot.admin.ingest.progress import applying
from bot.admin.results import Done
from engine.models import Link, Mention, Reading

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from bot.admin.requests import Hide, Merge, Pin, State
    from bot.admin.results import Event
    from bot.engine_context import Desk


async def merge(desk: Desk, request: Merge) -> AsyncGenerator[Event]:
    """Merge a name into another one, or take that back."""
    if request.into:
        unknown = await desk.engine.merge(request.space, request.name, request.into)
        said = merged(request.name, request.into, unknown)
    else:
        await desk.engine.unmerge(request.space, request.name)
        said = f"“{request.name}” stands for itself again."
    async for step in applying(desk.engine, scope_of([request.space])):
        yield step
    yield Done(said)


async def pin(desk: Desk, request: Pin) -> AsyncGenerator[Event]:
    """Pin a description, or take the pin back."""
    await desk.engine.pin(request.space, request.name, request.description, request.other)
    async for step in applying(desk.engine, scope_of([request.space])):
        yield step
    what = _called(request.name, request.other)
    yield Done(f"{what} is described by your words." if request.description else f"{what} is described as it was read.")


async def hide(desk: Desk, request: Hide) -> AsyncGenerator[Event]:
    """Hide a name or a pair, or show it again."""
    act = desk.engine.hide if request.hidden else desk.engine.unhide
    await act(request.space, request.name, request.other)
    async for step in applying(desk.engine, scope_of([request.space])):
        yield step
    yield Done(f"{_called(request.name, request.other)} is {'hidden' if request.hidden else 'shown again'}.")


async def state(desk: Desk, request: State) -> AsyncGenerator[Event]:
    """Take in what a person tells; forgetting its document takes it back."""
    key = await desk.engine.state(request.space, request.room, _reading(request))
    async for step in applying(desk.engine, scope_of([request.space])):
        yield step
    yield Done(f"Taken in as {key}; `threadlore forget {key}` takes it back.")


def merged(name: str, into: str, unknown: Iterable[str]) -> str:
    """That a name leads to another one, and which of them is unknown: it may be yet to come, or a slip of the pen."""
    doubts = (f" “{each}” was not read anywhere yet: is it written as you mean it?" for each in unknown)
    return f"“{name}” now leads to “{into}”.{''.join(doubts)}"


def _reading(request: State) -> Reading:
    if request.other:
        return Reading(links=(Link(request.name, request.other, request.keywords, request.description),))
    return Reading(mentions=(Mention(request.name, request.type.lower(), request.description),))


def _called(name: str, other: str) -> str:
    return f"“{name}” – “{other}”" if other else f"“{name}”"
