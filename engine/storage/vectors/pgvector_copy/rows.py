"""Rows of the database as columns: whole tables in large blocks, and the rows of some ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg import sql

from engine.storage.psycopg_calls import fetch_rows
from engine.storage.vectors.pgvector_tables import MAX_PAGE_DIM, list_leaves, table_name
from engine.storage.vectors.row_arrays import reserve_rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from psycopg import AsyncConnection

    from engine.storage.vectors.base import VectorTable
    from engine.storage.vectors.row_arrays import RowArrays

BLOCK_ROWS = 2_048  # about; copied into memory without a pause: some milliseconds
PAGE_BYTES, KEY_BYTES = 8_192, 64  # of a page of the server; of a row besides its vector
VECTOR_HEADER = 4  # bytes before the numbers of a vector that is sent
COUNT_ROWS = sql.SQL("SELECT count(*) FROM {table}")
COUNT_PAGES = sql.SQL("SELECT pg_relation_size(to_regclass(%(leaf)s)) / current_setting('block_size')::bigint")
# The server joins the rows of a block, so that no row is handled by itself. Each column has the same order.
COLUMNS = sql.SQL(
    "string_agg(int8send(id), ''), string_agg(int4send(space), ''), string_agg(int4send(room), ''),"
    " string_agg(int2send(part), ''), string_agg(vector_send(vector), '')"
)
READ_PAGES = sql.SQL("SELECT {columns} FROM {leaf} WHERE ctid >= {first}::tid AND ctid < {end}::tid")
READ_IDS = sql.SQL("SELECT {columns} FROM {table} WHERE id = ANY(%(ids)s)")
KEY_COLUMNS = {"id": ">i8", "space": ">i4", "room": ">i4", "part": ">i2"}  # as they are sent

Block = tuple[dict[str, np.ndarray], np.ndarray]  # the columns of the keys, and the vectors


async def load_table(connection: AsyncConnection[Any], table: VectorTable, dim: int, max_bytes: int) -> RowArrays:
    """All rows of a table. Those that change meanwhile may be old, missing or there twice. Raises ArraysFull."""
    [[count]] = await fetch_rows(connection, COUNT_ROWS.format(table=sql.Identifier(table_name(table))))
    rows = reserve_rows(dim, count, max_bytes)
    for leaf in await list_leaves(connection, table):
        async for keys, vectors in _read_leaf(connection, leaf.name, dim):
            rows.append(keys, vectors)
    return rows


async def read_ids(
    connection: AsyncConnection[Any], table: VectorTable, ids: Collection[int], dim: int
) -> Block | None:
    """The rows of some ids, as they are now; None if there are none."""
    statement = READ_IDS.format(columns=COLUMNS, table=sql.Identifier(table_name(table)))
    [row] = await fetch_rows(connection, statement, {"ids": sorted(ids)})
    return _decode(row, dim)


async def _read_leaf(connection: AsyncConnection[Any], leaf: str, dim: int) -> AsyncIterator[Block]:
    [[pages]] = await fetch_rows(connection, COUNT_PAGES, {"leaf": leaf})
    row_bytes = KEY_BYTES + (4 * dim if dim <= MAX_PAGE_DIM else 0)
    step = max(1, BLOCK_ROWS * row_bytes // PAGE_BYTES)
    for first in range(0, pages, step):
        statement = READ_PAGES.format(
            columns=COLUMNS,
            leaf=sql.Identifier(leaf),
            first=sql.Literal(f"({first},0)"),
            end=sql.Literal(f"({first + step},0)"),
        )
        [row] = await fetch_rows(connection, statement)
        if (block := _decode(row, dim)) is not None:
            yield block


def _decode(columns: Sequence[bytes | None], dim: int) -> Block | None:
    """A block from its columns as they are sent; None if it has no rows."""
    *keys, vectors = columns
    if vectors is None:
        return None
    numbers = {
        name: np.frombuffer(column or b"", type_)
        for (name, type_), column in zip(KEY_COLUMNS.items(), keys, strict=True)
    }
    sent = np.frombuffer(vectors, ">f4").reshape(-1, VECTOR_HEADER // 4 + dim)
    return numbers, sent[:, VECTOR_HEADER // 4 :].astype(np.float32)
