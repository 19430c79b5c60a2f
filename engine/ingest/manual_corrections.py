"""The corrections of an engine that people make by hand. They are facts of the ledger: a reindex keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from engine.boundary import Closable, guard_public_methods
from engine.knowledge.manual_facts import build_manual_document

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from datetime import datetime

    from engine.models import Chunk, Document, Extraction
    from engine.storage.ledger.api import LedgerStore

Result = TypeVar("Result")


@guard_public_methods
class ManualCorrections(Closable, ABC):
    """Manual corrections of an engine.

    With `room`, the room where it was made, a correction moves to another space with that room.
    """

    _ledger: LedgerStore

    @abstractmethod
    async def _write(self, write: Awaitable[Result]) -> Result:
        """Await a write to the ledger and wake the worker to process the changes."""

    @abstractmethod
    def _build_chunks(self, document: Document) -> list[Chunk]:
        """The chunks of a document."""

    async def merge(self, space: str, name: str, into: str, *, room: str = "") -> list[str]:
        """Make a name an alias of another; returns the names without facts. Raises NotFound if neither has any."""
        return await self._write(self._ledger.corrections.merge(space, name, into, room))

    async def unmerge(self, space: str, name: str, *, room: str = "") -> None:
        """Make a merged name an entity of its own again; it is never joined with that name automatically."""
        await self._write(self._ledger.corrections.unmerge(space, name, room))

    async def separate(self, space: str, name: str, other: str, *, room: str = "") -> None:
        """Record that two names are different entities: they are not suggested as duplicates, and never joined."""
        await self._write(self._ledger.corrections.separate(space, name, other, room))

    async def describe(self, space: str, name: str, description: str, other: str = "", *, room: str = "") -> None:
        """Replace the description of an entity, or of its relation to `other`; "" restores the automatic one."""
        await self._write(self._ledger.corrections.pin_description(space, (name, other), description, room))

    async def hide(self, space: str, name: str, other: str = "", *, room: str = "") -> None:
        """Hide an entity with its relations, or only its relation to `other`."""
        await self._write(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=True))

    async def unhide(self, space: str, name: str, other: str = "", *, room: str = "") -> None:
        """Show a hidden entity or relation again."""
        await self._write(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=False))

    async def add_facts(self, space: str, room: str, facts: Extraction, *, time: datetime | None = None) -> str:
        """Add entities and relations stated by a person; returns the key of the new document that holds them."""
        document = build_manual_document(space, room, facts, time)
        await self._write(self._ledger.documents.save_manual(document, self._build_chunks(document), facts))
        return document.key
