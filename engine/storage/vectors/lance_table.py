"""One table of vectors: writes hold a lock, searches do not."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import structlog

from engine.errors import CorruptProjection
from engine.scheduling.supervisor import wait_for_completion
from engine.storage.column_arrays import ArraysFull
from engine.storage.library_errors import translate_library_errors
from engine.storage.memory_copy import MemoryCopy
from engine.storage.spilled_rows import CopyLost
from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow, VectorTable
from engine.storage.vectors.in_memory.row_loading import SpaceGroups, extend_codes, reserve_rows
from engine.storage.vectors.search_plan import (
    SearchPlan,
    build_filter,
    build_in_clause,
    excludes_rows,
    max_matching_rows,
    plan_search,
)
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
    from pathlib import Path

    import pyarrow as pa

    from engine.storage.vectors.in_memory.row_arrays import RowArrays
    from engine.storage.vectors.in_memory.table_shares import TableShares

Result = TypeVar("Result")

log = structlog.get_logger(__name__)

KEY_COLUMNS = ("id", "space", "room", "part")
BATCH_ROWS = 10_000
MAX_LOSSES = 3  # of files of copies, until the next start
LOADED_BATCH_ROWS = 2_048  # copied into memory without a pause: 2 ms


class LanceTable:
    """The rows (id, space, room, part, vector) of one table, with files in `folder`.

    Its rows are also kept in memory, rounded if need be, and in a file without a name as far as they take more; they
    are searched there. `shares`: of the memory. `loading` lets tables be loaded in turn, since each load takes memory.
    """

    table: Any

    def __init__(self, name: VectorTable, folder: Path, dim: int, shares: TableShares, loading: asyncio.Lock) -> None:
        self._name = name
        self.folder = folder
        self.write_lock = asyncio.Lock()
        self.is_indexed = False
        self.writes = 0
        self.has_deleted_rows = True  # unknown from before this process
        self._dim = dim
        self._max_id: int | None = None  # None: not known yet
        self._has_parts = False
        self._shares = shares
        self._loading = loading
        self._losses = 0  # of files of copies
        self._cache = MemoryCopy(self._load_rows, extend_codes)
        self._reads: set[asyncio.Future[None]] = set()
        self._readable = asyncio.Event()
        self._readable.set()

    async def attach(self, table: Any) -> None:
        """Use this table from now on, and read its state."""
        self.table = table
        self._max_id = None
        self.is_indexed = "vector" in await self.index_columns()
        self._cache.drop()
        with suppress(CorruptProjection):  # reported when the rows are read
            self._shares.record_rows(self._name, await self.count_rows())

    @property
    def is_cached(self) -> bool:
        """Whether the rows are in memory."""
        return self._cache.is_loaded

    async def drop_cache(self) -> None:
        """Free the rows in memory; the next search loads them from the files."""
        await self._cache.close()

    @asynccontextmanager
    async def _follow(self, change: Callable[[RowArrays], None], *, deletes: bool = False) -> AsyncIterator[None]:
        """Hold the lock, and change the rows in memory once the block has changed the files."""

        def apply(rows: RowArrays) -> None:
            try:
                change(rows)
            except CopyLost as error:
                self._report_loss(error)
                raise

        async with self.write_lock, AsyncExitStack() as held:
            with self._cache.follow(apply, deletes=deletes):
                yield
                if (rows := self._cache.rows) is not None:
                    await held.enter_async_context(rows.hold_searches())

    async def _ask_copy(self, ask: Callable[[RowArrays], Awaitable[Result]]) -> Result | None:
        """What the rows in memory answer; None if there are none, or if their file is lost: then they are dropped."""
        if (rows := await self._cache.get()) is None:
            return None
        try:
            return await ask(rows)
        except CopyLost as error:
            if self._cache.rows is rows:  # not yet dropped by another search
                self._report_loss(error)
                self._cache.drop()
            return None

    def _report_loss(self, error: CopyLost) -> None:
        log.warning("vectors.copy_lost", table=self.folder.stem, error=str(error))
        self._losses += 1

    async def index_columns(self) -> set[str]:
        """The columns that have an index."""
        return {column for index in await self.table.list_indices() for column in index.columns}

    async def has_ids_above(self, id_: int) -> bool:
        """Whether a row has a higher id."""
        with translate_library_errors(self.folder):
            return bool(await self.table.count_rows(f"id > {int(id_)}"))

    async def upsert(self, rows: Sequence[VectorRow], vectors: np.ndarray) -> None:
        """Insert or replace; other parts of the ids are deleted."""
        last = {(row.id, row.part): place for place, row in enumerate(rows)}
        places = sorted(last.values())
        keys = [rows[place] for place in places]
        content = unit_vectors(np.asarray(vectors).reshape(len(rows), self._dim)[places])
        with translate_library_errors(self.folder):
            async with self._follow(lambda cached: cached.upsert(keys, content)):
                await self._replace_rows(keys, content)

    async def delete(self, ids: Collection[int]) -> None:
        """Delete all rows of the ids."""
        if not ids:
            return
        with translate_library_errors(self.folder):
            async with self._follow(lambda cached: cached.delete(ids), deletes=True):
                await self._delete_rows(sorted(ids))

    async def search(self, vector: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """The k most similar rows that match the filter, best first; ties by id and part. A zero vector has no hits."""
        condition = build_filter(vector_filter)
        query = unit_vectors(np.asarray(vector).reshape(1, self._dim))[0]
        if condition is None or k <= 0 or not query.any():
            return []
        with translate_library_errors(self.folder):
            if (hits := await self._ask_copy(lambda rows: rows.find(query, k, vector_filter))) is not None:
                return hits
            async with self.hold_files():
                found = await self._search_files(query, k, vector_filter, condition)
        numbers = zip(*(found[name].to_pylist() for name in ("id", "part", "_distance")), strict=True)
        return sorted(
            (VectorHit(number, part, min(1.0, max(-1.0, 1.0 - distance))) for number, part, distance in numbers),
            key=lambda hit: (-hit.similarity, hit.id, hit.part),
        )

    async def fetch(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim), parts in order."""
        with translate_library_errors(self.folder):
            if (found := await self._ask_copy(lambda rows: rows.look_up(ids))) is not None:
                return found
            return await self._fetch_from_files(sorted(ids))

    async def fetch_stored(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors in the files by id, shape (parts, dim), parts in order."""
        with translate_library_errors(self.folder):
            return await self._fetch_from_files(sorted(ids))

    async def list_rows(self) -> list[VectorRow]:
        """All rows without their vectors, in order."""
        with translate_library_errors(self.folder):
            async with self.hold_files():
                found = await self.table.query().select(list(KEY_COLUMNS)).to_arrow()
        return sorted(VectorRow(*row) for row in zip(*(found[name].to_pylist() for name in KEY_COLUMNS), strict=True))

    async def count_rows(self) -> int:
        """The number of rows."""
        with translate_library_errors(self.folder):
            return int(await self.table.count_rows())

    @asynccontextmanager
    async def hold_files(self) -> AsyncIterator[None]:
        """While inside, the files that this read started with remain."""
        await self._readable.wait()
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reads.add(over)
        try:
            yield
        finally:
            self._reads.discard(over)
            over.set_result(None)

    @asynccontextmanager
    async def block_reads(self) -> AsyncIterator[None]:
        """While inside, no read runs: running ones are waited for, others wait. The caller holds the lock."""
        self._readable.clear()
        try:
            while self._reads:
                await asyncio.wait(set(self._reads))
            yield
        finally:
            self._readable.set()

    async def merge_rows(self, rows: pa.Table) -> None:
        """Insert or replace by (id, part). The caller holds the lock.

        Where no id has several parts, by id alone: its index finds the rows, while two columns are read as a whole.
        """
        await self._learn_ids()
        merge = self.table.merge_insert(["id", "part"] if self._has_parts else ["id"])
        await wait_for_completion(merge.when_matched_update_all().when_not_matched_insert_all().execute(rows))
        self.writes += 1

    async def _load_rows(self) -> RowArrays:
        """All rows of one version of the table. Raises ArraysFull."""
        if self._losses >= MAX_LOSSES:
            raise ArraysFull
        try:
            async with self._loading:
                return await self._copy_rows()
        except ArraysFull as error:
            self._shares.take_back(self._name)
            if isinstance(error, CopyLost):
                self._report_loss(error)
            raise

    async def _copy_rows(self) -> RowArrays:
        self._shares.record_rows(self._name, count := await self.count_rows())
        rows = reserve_rows(self._dim, count, self._shares.give(self._name), self.folder.parent)
        async with self.hold_files():
            groups = SpaceGroups(rows, await self._count_by_space()) if rows.is_rounded else None
            query = self.table.query().select([*KEY_COLUMNS, "vector"])
            async for batch in await query.to_batches(max_batch_length=LOADED_BATCH_ROWS):
                keys = {name: batch[name].to_numpy() for name in KEY_COLUMNS}
                (groups or rows).append(keys, read_flat(batch["vector"]).reshape(-1, self._dim))
            if groups is not None:
                groups.finish()
        return rows

    async def _count_by_space(self) -> Counter[int]:
        counts = Counter[int]()
        async for batch in await self.table.query().select(["space"]).to_batches():
            spaces, sizes = np.unique(batch["space"].to_numpy(), return_counts=True)
            counts.update(dict(zip(spaces.tolist(), sizes.tolist(), strict=True)))
        return counts

    async def _learn_ids(self) -> int:
        """The highest id before a write, -1 if there is none; and whether any id has several parts."""
        if self._max_id is None:
            found = await self.table.query().select(["id", "part"]).to_arrow()
            self._has_parts = bool(found["part"].to_numpy().any())
            self._max_id = int(found["id"].to_numpy().max(initial=-1))
        return self._max_id

    async def _replace_rows(self, keys: Sequence[VectorRow], vectors: np.ndarray) -> None:
        await self._learn_ids()
        self._has_parts = self._has_parts or any(row.part for row in keys)
        for start in range(0, len(keys), BATCH_ROWS):
            await self._upsert_batch(keys[start : start + BATCH_ROWS], vectors[start : start + BATCH_ROWS])
        if self._has_parts:
            await wait_for_completion(self.table.delete(_other_parts_filter(keys)))

    async def _delete_rows(self, ids: Sequence[int]) -> None:
        for start in range(0, len(ids), BATCH_ROWS):
            await wait_for_completion(self.table.delete(build_in_clause("id", ids[start : start + BATCH_ROWS])))
            self.writes += 1
        self.has_deleted_rows = True

    async def _fetch_from_files(self, ids: Sequence[int]) -> dict[int, np.ndarray]:
        parts: dict[int, list[tuple[int, np.ndarray]]] = {}
        for start in range(0, len(ids), BATCH_ROWS):
            condition = build_in_clause("id", ids[start : start + BATCH_ROWS])
            async with self.hold_files():
                found = await self.table.query().where(condition).select(["id", "part", "vector"]).to_arrow()
            vectors = read_vectors(found["vector"], self._dim)
            for place, (number, part) in enumerate(_id_parts(found)):
                parts.setdefault(number, []).append((part, vectors[place]))
        return {
            number: np.stack([vector for _, vector in sorted(rows_of_id, key=lambda one: one[0])])
            for number, rows_of_id in parts.items()
        }

    async def _upsert_batch(self, keys: Sequence[VectorRow], vectors: np.ndarray) -> None:
        """Append ids above all earlier ones, which is far cheaper than looking them up; merge the others."""
        highest = await self._learn_ids()
        new = np.fromiter((row.id > highest for row in keys), bool, len(keys))
        fresh = [row for row, is_new in zip(keys, new, strict=True) if is_new]
        former = [row for row, is_new in zip(keys, new, strict=True) if not is_new]
        if former:
            await self.merge_rows(build_columns(former, vectors[~new]))
        if fresh:
            await wait_for_completion(self.table.add(build_columns(fresh, vectors[new])))
            self.writes += 1
        self._max_id = max(highest, *(row.id for row in keys))

    async def _search_files(self, query: np.ndarray, k: int, vector_filter: VectorFilter, condition: str) -> Any:
        """The nearest rows. A filter that excludes no known row is left out, which saves a third of the time."""
        plan = await self._choose_plan(k, vector_filter, condition)
        if not excludes_rows(vector_filter):
            found = await self._build_query(query, k, plan).to_arrow()
            if vector_filter.spaces.issuperset(found["space"].to_pylist()):
                return found
        return await self._build_query(query, k, plan, condition).to_arrow()

    def _build_query(self, query: np.ndarray, k: int, chosen: SearchPlan, condition: str | None = None) -> Any:
        rows = self.table.query()
        search = (rows.where(condition) if condition else rows).nearest_to(query).distance_type("cosine").limit(k)
        search = search.select(["id", "part", "space", "_distance"])
        if chosen.exact:
            return search.bypass_vector_index()
        return search.nprobes(chosen.probes).refine_factor(chosen.refine)

    async def _choose_plan(self, k: int, vector_filter: VectorFilter, condition: str) -> SearchPlan:
        if not self.is_indexed:
            return SearchPlan(exact=True)
        matching = max_matching_rows(vector_filter)
        if matching is None:
            matching = await self.table.count_rows(condition)
        return plan_search(matching, await self.count_rows(), k)


def build_schema(dim: int) -> pa.Schema:
    """The columns of a table."""
    import pyarrow as pa  # noqa: PLC0415  - heavy, and only needed once a store is open

    numbers = zip(KEY_COLUMNS, (pa.int64(), pa.int32(), pa.int32(), pa.int16()), strict=True)
    return pa.schema([*numbers, ("vector", pa.list_(pa.float32(), dim))])


def build_columns(rows: Sequence[VectorRow], vectors: np.ndarray) -> pa.Table:
    """Rows and their vectors as columns of the table."""
    import pyarrow as pa  # noqa: PLC0415  - see above

    shape = build_schema(vectors.shape[1])
    numbers = [
        pa.array(values, shape.field(name).type)
        for name, values in zip(KEY_COLUMNS, zip(*rows, strict=True), strict=True)
    ]
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.table([*numbers, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])], schema=shape)


def read_vectors(column: Any, dim: int) -> np.ndarray:
    """A column of vectors as float32 of shape (n, dim)."""
    chunks = [read_flat(chunk) for chunk in column.chunks]
    return np.concatenate([*chunks, np.empty(0, np.float32)]).reshape(-1, dim)


def read_flat(vectors: pa.FixedSizeListArray) -> np.ndarray:
    """The numbers of vectors that lie behind each other; Arrow's own method would import pyarrow.compute."""
    size = vectors.type.list_size
    numbers: np.ndarray = vectors.values.slice(vectors.offset * size, len(vectors) * size).to_numpy()
    return numbers


def _id_parts(found: Any) -> zip[tuple[int, int]]:
    return zip(found["id"].to_pylist(), found["part"].to_pylist(), strict=True)


def _other_parts_filter(rows: Sequence[VectorRow]) -> str:
    """The filter for rows of the same ids with other parts."""
    parts: dict[int, list[int]] = {}
    for row in rows:
        parts.setdefault(row.id, []).append(row.part)
    ids: dict[tuple[int, ...], list[int]] = {}
    for number, own in parts.items():
        ids.setdefault(tuple(sorted(own)), []).append(number)
    return " OR ".join(
        f"({build_in_clause('id', numbers)} AND part NOT IN ({','.join(map(str, own))}))"
        for own, numbers in ids.items()
    )
