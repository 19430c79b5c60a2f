"""The vector projection: ids, spaces, rooms and vectors in LanceDB, no text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np

VectorTable = Literal["chunks", "entities", "relations"]


class VectorRow(NamedTuple):
    """What one vector belongs to: `part` numbers the vectors of one id from 0; room is 0 but for chunks."""

    id: int
    space: int
    room: int
    part: int


class VectorHit(NamedTuple):
    """A row found, with its cosine similarity (exact, not quantised)."""

    id: int
    part: int
    similarity: float


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """Where to search: rows of the spaces or of the rooms, and only `ids` if given.

    `population` is the number of rows by space in the table searched; it chooses the plan.
    """

    spaces: frozenset[int]
    rooms: frozenset[int] = frozenset()
    rows_by_space: Mapping[int, int] = field(default_factory=dict)
    ids: frozenset[int] | None = None


class VectorStore(Protocol):
    """What the engine wants from a vector store. All writes may be repeated without harm; one writer a table."""

    async def upsert(self, table: VectorTable, rows: Sequence[VectorRow], vectors: np.ndarray) -> None:
        """Insert or replace. All parts of an id come in one call; parts of it that do not come are removed."""

    async def delete(self, table: VectorTable, ids: Collection[int]) -> None:
        """Remove all rows of the ids. Missing ones are no error."""

    async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
        """The k most similar rows within the area, best first; filtered inside the search; no area, no hits."""

    async def fetch(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim); missing ids are absent."""

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        """All rows that are there, for verification."""

    async def clear(self) -> None:
        """Empty all tables."""

    async def compact(self) -> None:
        """Merge small files, index new rows, and remove the bytes of dropped rows from the disk."""

    async def close(self) -> None:
        """Release the files."""
