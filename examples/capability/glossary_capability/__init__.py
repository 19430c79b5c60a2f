"""A glossary: the names that documents mention most, of those that the caller may read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from bot.capabilities.results import Listing
from bot.capabilities.row import Capability, Surface

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps


@dataclass(frozen=True, slots=True)
class ListGlossary:
    """List the names that begin with these letters, the most mentioned first."""

    start: str = ""
    limit: Annotated[int, Field(ge=1, le=100)] = 20


async def list_glossary(deps: Deps, caller: Caller, request: ListGlossary) -> AsyncGenerator[Listing]:
    """Yield the names with their types and the number of passages that mention them."""
    found = await deps.engine.graph.search(request.start, caller.scope, request.limit)
    yield Listing(("Name", "Type", "Mentions"), tuple((each.name, each.type, str(each.mentions)) for each in found))


def list_rows() -> list[Capability]:
    """The capabilities of this package."""
    return [
        Capability(
            "glossary",
            ListGlossary,
            "glossary_capability:list_glossary",
            Surface.CHAT | Surface.CLI | Surface.HTTP | Surface.MCP,
            permission="read",
            summary="the names that are mentioned most",
        )
    ]
