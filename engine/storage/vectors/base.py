"""The Protocol of vector stores: ids, spaces, rooms and vectors, no text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np

VectorTable = Literal["chunks", "entities", "relations"]


class VectorRow(NamedTuple):
    """The owner of one vector: `part` numbers the vectors of one id from 0; `room` is 0 except for chunks."""

    id: int
    space: int
    room: int
    part: int


class VectorHit(NamedTuple):
    """A row found, with its cosine similarity (within 0.005 of the exact one)."""

    id: int
    part: int
    similarity: float


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """Rows of the spaces or of the rooms, and only `ids` if given.

    `rows_by_space`: the number of rows in the table; it chooses the search plan.
    """

    spaces: frozenset[int]
    rooms: frozenset[int] = frozenset()
    rows_by_space: Mapping[int, int] = field(default_factory=dict)
    ids: frozenset[int] | None = None


class VectorStore(Protocol):
    """A vector database. Every write may be repeated without harm; only one writer for each table.

    `spaces`: the only spaces that may hold rows of these ids, if the caller knows them. A store that is partitioned by
    space then reads no other partition.
    """

    async def upsert(
        self,
        table: VectorTable,
        rows: Sequence[VectorRow],
        vectors: np.ndarray,
        spaces: Collection[int] | None = None,
    ) -> None:
        """Insert or replace. All parts of an id come in one call; its other parts are deleted."""

    async def delete(self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None) -> None:
        """Delete all rows of the ids. Missing ones are no error."""

    async def search(
        self, table: VectorTable, vector: np.ndarray, k: int, vector_filter: VectorFilter
    ) -> list[VectorHit]:
        """The k most similar rows that match the filter, best first; the filter applies inside the search."""

    async def fetch(
        self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None
    ) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim); missing ids are left out."""

    async def fetch_stored(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        """As `fetch`, from what is stored, and not from a copy in memory; for verification."""

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        """Every row, for verification."""

    async def clear(self) -> None:
        """Delete all rows."""

    async def compact(self) -> None:
        """Merge small files, index new rows, and remove the bytes of deleted rows from the disk."""

    async def close(self) -> None:
        """Release the files."""
