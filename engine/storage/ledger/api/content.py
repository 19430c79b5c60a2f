"""Repositories of what comes in: documents, their facts, and corrections by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engine.errors import EngineError
    from engine.models import Chunk, Document, Extraction, Scope
    from engine.storage.ledger.records.content import (
        AmendmentPlan,
        AmendmentResult,
        ChangedRegion,
        DocumentChange,
        RechunkedRegion,
        UnextractedChunk,
    )
    from engine.storage.ledger.records.projection import SpaceTurn
    from engine.storage.ledger.records.query_results import CorrectionChange


class Documents(Protocol):
    """Documents with their passages, chunks and rooms. Writing marks what changed as stale."""

    async def load(self, key: str, scope: Scope) -> Document:
        """A document with its passages. Raises NotFound if there is none within the scope."""

    async def save(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Make the ledger hold this document as it is now; returns whether anything changed.

        A moved room decides the space of its documents.
        """

    async def save_manual(self, document: Document, chunks: Sequence[Chunk], extraction: Extraction) -> None:
        """Save a document with its facts already extracted."""

    async def delete(self, key: str) -> bool:
        """Delete a document with everything that rests on it alone; returns whether there was one."""

    async def plan_amendment(self, key: str, change: DocumentChange, reach: int) -> AmendmentPlan:
        """Read `reach` chunks before and after a change. Raises NotFound."""

    async def apply_amendment(self, plan: AmendmentPlan, rechunked: RechunkedRegion | None) -> AmendmentResult:
        """Make the planned change, unless the document has changed since it was planned."""

    async def amend(
        self, key: str, change: DocumentChange, rechunk: Callable[[ChangedRegion], RechunkedRegion | None]
    ) -> bool:
        """Plan and apply a change at once; returns whether anything changed. Raises NotFound."""

    async def move_room(self, room: str, space: str) -> int:
        """Move a room with its documents and corrections into a space; returns the number of documents."""

    async def delete_room(self, room: str) -> int:
        """Delete a room with its documents and corrections; returns the number of documents."""


class Facts(Protocol):
    """Extracted facts, and the chunks that wait for extraction."""

    async def list_unextracted(
        self, limit: int, now: float, skip: Collection[int], turn: SpaceTurn, least: int
    ) -> list[UnextractedChunk]:
        """Chunks of closed documents that may be extracted at the time `now`, the oldest of each space.

        About `limit` ones, of some spaces in turn; each may have `least`. Those that other processes extract are left
        out.
        """

    async def claim_chunks(self, ids: Collection[int], process: int) -> set[int]:
        """Claim chunks for extraction; returns those that were free."""

    async def release_chunks(self, ids: Collection[int]) -> None:
        """Free chunks that were claimed for extraction."""

    async def has_pending_extraction(self) -> bool:
        """Whether any chunk waits for extraction, now or for its next try."""

    async def find_extraction(self, keys: tuple[bytes, bytes], chunk: int) -> tuple[bytes, Extraction] | None:
        """The facts saved under one of the keys in the space of the chunk, with that key, if any."""

    async def save_extractions(self, found: Mapping[int, tuple[bytes, Extraction]]) -> set[int]:
        """Save the facts of chunks, with their keys; returns the chunks that exist and were not extracted before."""

    async def record_extraction_failure(self, chunk: int, error: EngineError, retry_at: float) -> None:
        """Record a failed try; an infinite `retry_at` gives the chunk up."""


class Corrections(Protocol):
    """Corrections by hand, within a space. `room`: the room that a correction moves with, "" for none."""

    async def merge(self, space: str, name: str, into: str, room: str = "") -> CorrectionChange:
        """Make a name an alias of another. Raises NotFound if both are unknown."""

    async def unmerge(self, space: str, name: str, room: str = "") -> CorrectionChange:
        """Remove an alias; names that would be joined automatically are separated. Raises NotFound."""

    async def separate(self, space: str, name: str, other: str, room: str = "") -> CorrectionChange:
        """Record that two names are different; their join ends. Raises NotFound if both are unknown."""

    async def undo(self, space: str, change: CorrectionChange, room: str = "") -> CorrectionChange:
        """Reverse what a correction changed. Raises CorrectionChanged if that is not the present state."""

    async def set_automatic_joins(self, *, enabled: bool) -> None:
        """Join other spellings of a name automatically or not; turning it off undoes the automatic joins."""

    async def pin_description(
        self, space: str, names: tuple[str, str], description: str, room: str = ""
    ) -> CorrectionChange:
        """Set the description of a relation, or of an entity (name, ""); an empty one removes it."""

    async def set_hidden(self, space: str, names: tuple[str, str], room: str = "", *, hidden: bool) -> CorrectionChange:
        """Hide or show an entity (name, "") with its relations, or a relation."""
