"""Telling what is there: numbers, documents, and what is known of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.admin.document_lookup import scope_of
from bot.admin.results import Catalogued, Seen, Told
from engine.errors import NotFound
from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.requests import Catalogue, Look, Tell
    from bot.admin.results import Event
    from bot.engine_context import Desk


async def tell(desk: Desk, request: Tell) -> AsyncGenerator[Event]:
    """Told, once."""
    yield Told(await desk.engine.status(scope_of(request.spaces)))


async def catalogue(desk: Desk, request: Catalogue) -> AsyncGenerator[Event]:
    """Catalogued, once."""
    yield Catalogued(tuple(await desk.engine.documents(scope_of(request.spaces))))


async def look(desk: Desk, request: Look) -> AsyncGenerator[Event]:
    """Seen, once. Raises NotFound, naming what is written alike."""
    scope = scope_of(request.spaces)
    found = await desk.engine.neighbourhood(request.name, scope, request.limit)
    if found.entity is None:
        alike = await desk.engine.names(canonical(request.name)[:3], scope, 5)
        hint = (
            f"Known are, for instance: {', '.join(alike)}."
            if alike
            else "Names are known as they were read; a question finds the rest."
        )
        raise NotFound(f"Nothing is known of “{request.name}”.", hint=hint)
    yield Seen(found.entity, found.relations)
