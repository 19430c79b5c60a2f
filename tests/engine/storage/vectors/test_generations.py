from __future__ import annotations

import numpy as np

from engine.storage.vectors.base import VectorFilter, VectorRow
from engine.storage.vectors.generations import VectorGenerations
from tests.support.memory_vectors import MemoryVectors

ROWS = [VectorRow(id_, 1, 7, 0) for id_ in (1, 2, 3)]
EVERYWHERE = VectorFilter(frozenset({1}))


class CountedVectors(MemoryVectors):
    """Counts what erases rows."""

    compacted = cleared = 0

    async def compact(self) -> None:
        self.compacted += 1

    async def clear(self) -> None:
        self.cleared += 1
        await super().clear()


async def list_ids(vectors: MemoryVectors) -> list[int]:
    return [row.id for row in await vectors.list_rows("chunks")]


async def test_what_is_written_or_deleted_leaves_the_former_vectors() -> None:
    present, former = MemoryVectors(2), MemoryVectors(3)
    await former.upsert("chunks", ROWS, np.eye(3, dtype=np.float32))
    both = VectorGenerations(present, former)
    await both.upsert("chunks", ROWS[:1], np.ones((1, 2), np.float32))
    assert (await list_ids(present), await list_ids(former)) == ([1], [2, 3])
    await both.delete("chunks", {1, 2})
    assert (await list_ids(present), await list_ids(former)) == ([], [3])
    assert await both.search("chunks", np.ones(2, np.float32), 5, EVERYWHERE) == []
    await both.drop_former()
    assert await list_ids(former) == []


async def test_nothing_is_written_to_former_vectors_that_were_dropped() -> None:
    present, former = MemoryVectors(2), MemoryVectors(3)
    both = VectorGenerations(present, former)
    await both.drop_former()
    await former.upsert("chunks", ROWS, np.eye(3, dtype=np.float32))
    await both.upsert("chunks", ROWS, np.ones((3, 2), np.float32))
    await both.delete("chunks", {1})
    assert (await list_ids(present), await list_ids(former)) == ([2, 3], [1, 2, 3])
    assert set(await both.fetch("chunks", {2})) == {2}


async def test_both_are_erased_until_the_former_vectors_are_dropped() -> None:
    present, former = CountedVectors(2), CountedVectors(3)
    both = VectorGenerations(present, former)
    await both.compact()
    await both.clear()
    assert (present.compacted, former.compacted, present.cleared, former.cleared) == (1, 1, 1, 1)
    await both.drop_former()
    await both.compact()
    assert (present.compacted, former.compacted, former.cleared) == (2, 1, 2)
