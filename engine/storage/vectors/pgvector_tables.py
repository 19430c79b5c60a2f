"""The tables of the vector store on PostgreSQL: one for each kind of vectors, whole or partitioned by space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from psycopg import sql

from engine.errors import EmbedderMismatch
from engine.storage.psycopg_calls import fetch_rows, run_statement
from engine.storage.vectors.base import VectorTable
from engine.storage.vectors.pgvector_copy.change_log import create_log, drop_log

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psycopg import AsyncConnection

TABLES: tuple[VectorTable, ...] = get_args(VectorTable)
# Up to this many rows a search scans all of them: exact, fast enough, cheap to write. A table or partition gets an
# index if one of its spaces has more rows; or if all have, and they are so few that a question may read all of them.
INDEX_ABOVE = 50_000
MAX_SPACES_TOGETHER = 50
# Longer vectors do not fit into a page of the table, and are stored apart from their rows.
MAX_PAGE_DIM = 2_000
MAX_INDEX_DIM = 4_000  # a limit of the library
# An index that fits into memory while it is built takes a fraction of the time.
INDEX_MEMORY_FACTOR = 3
MAX_INDEX_MEMORY = 2 << 30
SCHEMA_LOCK, INDEX_LOCK = 0x7EAD_0001, 0x7EAD_0002

CREATE_TABLE = sql.SQL(
    "CREATE TABLE {table} (space int NOT NULL, id bigint NOT NULL, part smallint NOT NULL, room int NOT NULL,"
    " has_direction boolean NOT NULL, vector vector({dim}) NOT NULL, PRIMARY KEY (space, id, part)) {partitioning}"
)
CREATE_PARTITION = sql.SQL(
    "CREATE TABLE {partition} PARTITION OF {table} FOR VALUES WITH (MODULUS {count}, REMAINDER {number})"
)
FIND_DIM = sql.SQL("SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(%(table)s) AND attname = 'vector'")
# Tables that hold rows: the table, or its partitions. With their rows as the last ANALYZE estimated them, -1 if there
# was none, whether they have an index for searches, and how many rows one question may read. `n_distinct` is negative
# if spaces have a few rows each.
LIST_LEAVES = sql.SQL(
    "SELECT c.oid::regclass::text, c.reltuples::bigint, EXISTS (SELECT FROM pg_index i JOIN pg_class n"
    " ON n.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisvalid AND n.relname = c.relname || '_nearest'),"
    " (c.reltuples * CASE WHEN s.n_distinct BETWEEN 0 AND %(together)s THEN 1"
    " ELSE COALESCE(s.most_common_freqs[1], 0) END)::bigint"
    " FROM pg_class c LEFT JOIN pg_stats s ON s.schemaname = c.relnamespace::regnamespace::text"
    " AND s.tablename = c.relname AND s.attname = 'space' WHERE c.relkind = 'r' AND (c.oid = %(table)s::regclass"
    " OR c.oid IN (SELECT relid FROM pg_partition_tree(%(table)s))) ORDER BY 1"
)
FIND_SCHEMAS = sql.SQL("SELECT nspname::text FROM pg_namespace WHERE nspname ~ %(pattern)s")
DROP_SCHEMA = sql.SQL("DROP SCHEMA {} CASCADE")
LOCK_SCHEMA = sql.SQL("SELECT pg_advisory_xact_lock(%(lock)s)")
LOCK_INDEX = sql.SQL("SELECT pg_try_advisory_lock(%(lock)s)")
UNLOCK_INDEX = sql.SQL("SELECT pg_advisory_unlock(%(lock)s)")
SET_MEMORY = sql.SQL("SELECT set_config('maintenance_work_mem', %(size)s, false)")
DROP_BROKEN_INDEX = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {index}")
CREATE_INDEX = sql.SQL(
    "CREATE INDEX CONCURRENTLY {index} ON {table} USING hnsw ({half} halfvec_ip_ops) WHERE has_direction"
)


class Leaf(NamedTuple):
    """A table that holds rows: its name, estimated number of rows, and whether it has an index for searches.

    `rows_together`: the estimated number of rows that one question may read.
    """

    name: str
    rows: int
    is_indexed: bool
    rows_together: int = 0


def table_name(table: VectorTable) -> str:
    """The name of a table in the database."""
    return f"vector_{table}"


async def create_tables(connection: AsyncConnection[Any], dim: int, partitions: int) -> None:
    """Create missing tables; several processes may do so at once. Raises EmbedderMismatch."""
    async with connection.transaction():
        await run_statement(connection, LOCK_SCHEMA, {"lock": SCHEMA_LOCK})
        await run_statement(connection, sql.SQL("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"))
        for table in TABLES:
            found = await fetch_rows(connection, FIND_DIM, {"table": table_name(table)})
            if not found:
                await _create_table(connection, table_name(table), dim, partitions)
            elif found[0][0] != dim:
                raise EmbedderMismatch(
                    f"The vectors in the database have {found[0][0]} dimensions, the embedder {dim}."
                )
        await create_log(connection, map(table_name, TABLES))


async def drop_schemas(connection: AsyncConnection[Any], prefix: str, kept: Collection[str]) -> None:
    """Remove the schemas with this name, also with a number behind it, that are not among those kept."""
    for (name,) in await fetch_rows(connection, FIND_SCHEMAS, {"pattern": f"^{prefix}(_[0-9]+)?$"}):
        if name not in kept:
            await run_statement(connection, DROP_SCHEMA.format(sql.Identifier(name)))


async def drop_tables(connection: AsyncConnection[Any]) -> None:
    """Remove all tables."""
    async with connection.transaction():
        await run_statement(connection, LOCK_SCHEMA, {"lock": SCHEMA_LOCK})
        for table in TABLES:
            await run_statement(connection, _fill("DROP TABLE IF EXISTS {table}", table_name(table)))
        await drop_log(connection)


async def truncate_tables(connection: AsyncConnection[Any]) -> None:
    """Delete all rows at once, with their bytes and without the indexes for searches."""
    async with connection.transaction():
        for table in TABLES:
            await run_statement(connection, _fill("TRUNCATE {table}", table_name(table)))
            for leaf in await list_leaves(connection, table):
                if leaf.is_indexed:
                    await run_statement(connection, _fill("DROP INDEX {table}", index_name(leaf.name)))


async def list_leaves(connection: AsyncConnection[Any], table: VectorTable) -> list[Leaf]:
    """The table, or its partitions."""
    parameters = {"table": table_name(table), "together": MAX_SPACES_TOGETHER}
    rows = await fetch_rows(connection, LIST_LEAVES, parameters)
    return [Leaf(name, max(0, count), is_indexed, together) for name, count, is_indexed, together in rows]


def find_missing_indexes(leaves: Sequence[Leaf], dim: int) -> list[Leaf]:
    """The tables or partitions that need an index for searches."""
    if dim > MAX_INDEX_DIM:
        return []
    return [leaf for leaf in leaves if leaf.rows_together > INDEX_ABOVE and not leaf.is_indexed]


async def vacuum(connection: AsyncConnection[Any], leaf: str) -> None:
    """Remove deleted rows from a table and its indexes, and count the others. The connection is in autocommit mode."""
    await run_statement(connection, _fill("VACUUM (ANALYZE, INDEX_CLEANUP ON) {table}", leaf))


async def analyze(connection: AsyncConnection[Any], leaf: str) -> None:
    """Estimate the number of rows of a table."""
    await run_statement(connection, _fill("ANALYZE {table}", leaf))


async def build_index(connection: AsyncConnection[Any], leaf: str, dim: int, rows: int) -> None:
    """Create the index for searches while others read and write. The connection is in autocommit mode.

    Does nothing while another process builds one.
    """
    [[is_free]] = await fetch_rows(connection, LOCK_INDEX, {"lock": INDEX_LOCK})
    if not is_free:
        return
    memory = min(MAX_INDEX_MEMORY, max(64 << 20, INDEX_MEMORY_FACTOR * rows * (2 * dim + 400)))
    index = sql.Identifier(index_name(leaf))
    try:
        await run_statement(connection, SET_MEMORY, {"size": f"{memory >> 10}kB"})
        await run_statement(connection, DROP_BROKEN_INDEX.format(index=index))
        create = CREATE_INDEX.format(index=index, table=sql.Identifier(leaf), half=half_vector(dim))
        await run_statement(connection, create)
    finally:
        await run_statement(connection, sql.SQL("RESET maintenance_work_mem"))
        await run_statement(connection, UNLOCK_INDEX, {"lock": INDEX_LOCK})


def half_vector(dim: int) -> sql.Composable:
    """The vector in half precision, as the index holds it: half the size, and the same nearest rows."""
    return sql.SQL("(vector::halfvec({}))").format(sql.Literal(dim))


def index_name(leaf: str) -> str:
    """The name of a table's index for searches."""
    return f"{leaf}_nearest"


async def _create_table(connection: AsyncConnection[Any], name: str, dim: int, partitions: int) -> None:
    table = sql.Identifier(name)
    partitioning = sql.SQL("PARTITION BY HASH (space)" if partitions > 1 else "")
    await run_statement(connection, CREATE_TABLE.format(table=table, dim=sql.Literal(dim), partitioning=partitioning))
    if dim <= MAX_PAGE_DIM:
        await run_statement(connection, _fill("ALTER TABLE {table} ALTER vector SET STORAGE PLAIN", name))
    for number in range(partitions if partitions > 1 else 0):
        await run_statement(
            connection,
            CREATE_PARTITION.format(
                partition=sql.Identifier(f"{name}_{number}"),
                table=table,
                count=sql.Literal(partitions),
                number=sql.Literal(number),
            ),
        )
    await run_statement(connection, _fill("CREATE INDEX ON {table} (id)", name))
    await run_statement(connection, _fill("CREATE INDEX ON {table} (room) WHERE room <> 0", name))


def _fill(statement: Any, name: str) -> sql.Composed:
    return sql.SQL(statement).format(table=sql.Identifier(name))
