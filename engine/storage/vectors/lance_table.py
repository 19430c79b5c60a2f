"""One table of the vector projection: written under a lock, searched freely meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.scheduling.tasks import completed
from engine.storage.library_errors import told_in_words
from engine.storage.vectors.base import Area, Hit, Row
from engine.storage.vectors.search_plan import Plan, among, condition, plan, upper_bound
from engine.text.similarity import directions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from pathlib import Path

    import pyarrow as pa

KEYS = ("id", "space", "room", "part")
BATCH = 10_000


class LanceTable:
    """The rows (id, space, room, part, vector) of one table, whose files are in `folder`."""

    table: Any

    def __init__(self, folder: Path, dim: int) -> None:
        self.folder = folder
        self.writing = asyncio.Lock()
        self.indexed = False
        self.writes = 0
        self.dropped = True  # what happened before this process began is not known
        self._dim = dim
        self._top = -1
        self._parts = False
        self._reads: set[asyncio.Future[None]] = set()
        self._readable = asyncio.Event()
        self._readable.set()

    async def start(self, table: Any) -> None:
        """Work on this table from now on; learn what is in it."""
        self.table = table
        found = await table.query().select(["id", "part"]).to_arrow()
        self._top = int(found["id"].to_numpy().max(initial=-1))
        self._parts = bool(found["part"].to_numpy().any())
        self.indexed = "vector" in await self.index_columns()

    async def index_columns(self) -> set[str]:
        """The columns that have an index."""
        return {column for index in await self.table.list_indices() for column in index.columns}

    async def put(self, rows: Sequence[Row], vectors: np.ndarray) -> None:
        """Insert or replace; parts of the ids that do not come are removed."""
        last = {(row.id, row.part): place for place, row in enumerate(rows)}
        places = sorted(last.values())
        keys = [rows[place] for place in places]
        content = directions(np.asarray(vectors).reshape(len(rows), self._dim)[places])
        with told_in_words(self.folder):
            async with self.writing:
                for start in range(0, len(keys), BATCH):
                    await self._put(keys[start : start + BATCH], content[start : start + BATCH])
                self._parts = self._parts or any(row.part for row in keys)
                if self._parts:
                    await completed(self.table.delete(_other_parts(keys)))

    async def drop(self, ids: Collection[int]) -> None:
        """Remove all rows of the ids."""
        if not ids:
            return
        with told_in_words(self.folder):
            async with self.writing:
                ordered = sorted(ids)
                for start in range(0, len(ordered), BATCH):
                    await completed(self.table.delete(among("id", ordered[start : start + BATCH])))
                    self.writes += 1
                self.dropped = True

    async def search(self, vector: np.ndarray, k: int, area: Area) -> list[Hit]:
        """The k most similar rows of the area, best first; ties by id and part. No direction, no hits."""
        where = condition(area)
        query = directions(np.asarray(vector).reshape(1, self._dim))[0]
        if where is None or k <= 0 or not query.any():
            return []
        with told_in_words(self.folder):
            async with self.reading():
                found = await (await self._query(query, k, area, where)).to_arrow()
        hits = zip(*(found[name].to_pylist() for name in ("id", "part", "_distance")), strict=True)
        return sorted(
            (Hit(number, part, min(1.0, max(-1.0, 1.0 - distance))) for number, part, distance in hits),
            key=lambda hit: (-hit.similarity, hit.id, hit.part),
        )

    async def fetch(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim), parts in order."""
        parts: dict[int, list[tuple[int, np.ndarray]]] = {}
        ordered = sorted(ids)
        for start in range(0, len(ordered), BATCH):
            where = among("id", ordered[start : start + BATCH])
            with told_in_words(self.folder):
                async with self.reading():
                    found = await self.table.query().where(where).select(["id", "part", "vector"]).to_arrow()
            vectors = matrix(found["vector"], self._dim)
            for place, (number, part) in enumerate(_pairs(found)):
                parts.setdefault(number, []).append((part, vectors[place]))
        return {
            number: np.stack([vector for _, vector in sorted(some, key=lambda one: one[0])])
            for number, some in parts.items()
        }

    async def keys(self) -> list[Row]:
        """All rows without their vectors, in order."""
        with told_in_words(self.folder):
            async with self.reading():
                found = await self.table.query().select(list(KEYS)).to_arrow()
        return sorted(Row(*row) for row in zip(*(found[name].to_pylist() for name in KEYS), strict=True))

    @property
    def top(self) -> int:
        """The highest id that was ever here while this was open, -1 if there was none."""
        return self._top

    async def size(self) -> int:
        """The number of rows."""
        with told_in_words(self.folder):
            return int(await self.table.count_rows())

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """While inside, the files which this read began with stay."""
        await self._readable.wait()
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reads.add(over)
        try:
            yield
        finally:
            self._reads.discard(over)
            over.set_result(None)

    @asynccontextmanager
    async def unread(self) -> AsyncIterator[None]:
        """While inside, nobody reads: those who do are waited for, others wait. For whoever holds the lock."""
        self._readable.clear()
        try:
            while self._reads:
                await asyncio.wait(set(self._reads))
            yield
        finally:
            self._readable.set()

    async def write(self, rows: pa.Table) -> None:
        """Insert or replace by (id, part). For whoever holds the lock."""
        merge = self.table.merge_insert(["id", "part"])
        await completed(merge.when_matched_update_all().when_not_matched_insert_all().execute(rows))
        self.writes += 1

    async def _put(self, keys: Sequence[Row], vectors: np.ndarray) -> None:
        """Ids above all that were ever here are appended, which is far cheaper than looking for them."""
        new = np.fromiter((row.id > self._top for row in keys), bool, len(keys))
        fresh = [row for row, is_new in zip(keys, new, strict=True) if is_new]
        former = [row for row, is_new in zip(keys, new, strict=True) if not is_new]
        if former:
            await self.write(columns(former, vectors[~new]))
        if fresh:
            await completed(self.table.add(columns(fresh, vectors[new])))
            self.writes += 1
        self._top = max(self._top, *(row.id for row in keys))

    async def _query(self, query: np.ndarray, k: int, area: Area, where: str) -> Any:
        chosen = await self._plan(k, area, where)
        search = self.table.query().where(where).nearest_to(query).distance_type("cosine").limit(k)
        search = search.select(["id", "part", "_distance"])
        if chosen.exact:
            return search.bypass_vector_index()
        return search.nprobes(chosen.probes).refine_factor(chosen.refine)

    async def _plan(self, k: int, area: Area, where: str) -> Plan:
        if not self.indexed:
            return Plan(exact=True)
        in_area = upper_bound(area)
        if in_area is None:
            in_area = await self.table.count_rows(where)
        return plan(in_area, await self.size(), k)


def schema(dim: int) -> pa.Schema:
    """The columns of a table."""
    import pyarrow as pa  # noqa: PLC0415  - heavy, and only needed once a store is open

    numbers = zip(KEYS, (pa.int64(), pa.int32(), pa.int32(), pa.int16()), strict=True)
    return pa.schema([*numbers, ("vector", pa.list_(pa.float32(), dim))])


def columns(rows: Sequence[Row], vectors: np.ndarray) -> pa.Table:
    """Rows and their vectors as the table takes them."""
    import pyarrow as pa  # noqa: PLC0415  - see above

    shape = schema(vectors.shape[1])
    numbers = [
        pa.array(values, shape.field(name).type) for name, values in zip(KEYS, zip(*rows, strict=True), strict=True)
    ]
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.table([*numbers, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])], schema=shape)


def matrix(column: Any, dim: int) -> np.ndarray:
    """A column of vectors as float32 of shape (n, dim)."""
    chunks = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate([*chunks, np.empty(0, np.float32)]).reshape(-1, dim)


def _pairs(found: Any) -> zip[tuple[int, int]]:
    return zip(found["id"].to_pylist(), found["part"].to_pylist(), strict=True)


def _other_parts(rows: Sequence[Row]) -> str:
    """The filter for rows of the same ids whose part is not among those given."""
    parts: dict[int, list[int]] = {}
    for row in rows:
        parts.setdefault(row.id, []).append(row.part)
    ids: dict[tuple[int, ...], list[int]] = {}
    for number, own in parts.items():
        ids.setdefault(tuple(sorted(own)), []).append(number)
    return " OR ".join(
        f"({among('id', numbers)} AND part NOT IN ({','.join(map(str, own))}))" for own, numbers in ids.items()
    )
