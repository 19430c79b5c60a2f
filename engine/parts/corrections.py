"""The corrections of an engine that people make by hand. They are facts of the ledger: a reindex keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from engine.boundary import Closable, check_place, guard_public_methods
from engine.errors import NotFound
from engine.knowledge.manual_facts import build_manual_document

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable
    from datetime import datetime

    from engine.models import Chunk, Document, Extraction
    from engine.storage.ledger.api import LedgerStore
    from engine.storage.ledger.records import CorrectionChange

Result = TypeVar("Result")

UNKNOWN_HINT = "Use two names that both occur in the same channels."


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

    @abstractmethod
    async def _has_entity(self, name: str, space: str) -> bool:
        """Whether a name, or an alias, has facts in a space."""

    async def merge(
        self, space: str, name: str, into: str, *, room: str = "", allow_unknown: bool = False
    ) -> CorrectionChange:
        """Make a name an alias of another. Raises NotFound if one of them has no facts in the space.

        With `allow_unknown`, one of them may have none, which the change names: only for the owner of the data, since
        others would read a name that nobody told them.
        """
        check_place(space, room)
        if not allow_unknown:
            await self._require_known(space, (name, into))
        return await self._write(self._ledger.corrections.merge(space, name, into, room))

    async def _require_known(self, space: str, names: Iterable[str]) -> None:
        for name in names:
            if not await self._has_entity(name, space):
                raise NotFound(f"“{name}” is not known here.", hint=UNKNOWN_HINT)

    async def unmerge(self, space: str, name: str, *, room: str = "") -> CorrectionChange:
        """Make a merged or joined name an entity of its own again; it is not joined with that name automatically."""
        return await self._write(self._ledger.corrections.unmerge(space, name, room))

    async def separate(
        self, space: str, name: str, other: str, *, room: str = "", allow_unknown: bool = False
    ) -> CorrectionChange:
        """Record that two names are different entities: they are not suggested as duplicates, and never joined.

        Raises NotFound, and `allow_unknown`, as `merge`, which undoes it.
        """
        check_place(space, room)
        if not allow_unknown:
            await self._require_known(space, (name, other))
        return await self._write(self._ledger.corrections.separate(space, name, other, room))

    async def describe(
        self, space: str, name: str, description: str, other: str = "", *, room: str = ""
    ) -> CorrectionChange:
        """Replace the description of an entity, or of its relation to `other`; "" restores the automatic one."""
        check_place(space, room)
        return await self._write(self._ledger.corrections.pin_description(space, (name, other), description, room))

    async def hide(self, space: str, name: str, other: str = "", *, room: str = "") -> CorrectionChange:
        """Hide an entity with its relations, or only its relation to `other`."""
        check_place(space, room)
        return await self._write(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=True))

    async def unhide(self, space: str, name: str, other: str = "", *, room: str = "") -> CorrectionChange:
        """Show a hidden entity or relation again."""
        return await self._write(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=False))

    async def undo_correction(
        self, space: str, change: CorrectionChange, *, room: str = "", allow_unknown: bool = False
    ) -> CorrectionChange:
        """Remove what a correction made, and restore what it removed: exactly what was before.

        Raises CorrectionChanged if somebody corrected or undid the same meanwhile, and NotFound as `merge` does.
        """
        for each in change.removed:
            if each.kind in {"merge", "separate"} and not allow_unknown:
                await self._require_known(space, (each.name, each.other))
        return await self._write(self._ledger.corrections.undo(space, change, room))

    async def add_facts(self, space: str, room: str, facts: Extraction, *, time: datetime | None = None) -> str:
        """Add entities and relations stated by a person; returns the key of the new document that holds them."""
        check_place(space, room)
        document = build_manual_document(space, room, facts, time)
        await self._write(self._ledger.documents.save_manual(document, self._build_chunks(document), facts))
        return document.key
