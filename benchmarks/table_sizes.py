"""Bytes per row of every table in PostgreSQL with its indexes: what a document and a chunk cost.

`python -m benchmarks.table_sizes --documents 100 300` ingests synthetic documents (see `benchmarks.ingest`) and shows
how the tables grew between the two sizes, so that empty pages do not count. `--index-rows 20000` adds the index for
searches of so many random vectors.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from benchmarks.hashing import HashingEmbedder
from benchmarks.ingest import ingest, open_llm
from benchmarks.plumbing import start_postgres, temporary_folder
from engine import Engine, EngineOptions
from engine.llm.client.subprocess import SubprocessProvider

Sizes = dict[str, tuple[int, int]]  # rows and bytes by table

LIST_TABLES = (
    "SELECT n.nspname || '.' || c.relname, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE"
    " c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname LIKE 'threadlore%' ORDER BY 1"
)
SIZE = "SELECT COALESCE(SUM(pg_total_relation_size(relid)), 0) FROM pg_partition_tree(%s) WHERE isleaf"


def read_sizes(url: str) -> Sizes:
    """Rows and bytes of each table with its indexes and partitions."""
    with psycopg.connect(url, autocommit=True) as raw:
        raw.execute("VACUUM")
        found: Sizes = {}
        for name, oid in raw.execute(LIST_TABLES).fetchall():
            [[rows]] = raw.execute(f"SELECT COUNT(*) FROM {name}").fetchall()
            [[size]] = raw.execute(SIZE, (oid,)).fetchall()
            found[name] = (rows, int(size) or _whole_size(raw, oid))
        return found


def _whole_size(raw: psycopg.Connection, oid: int) -> int:
    [[size]] = raw.execute("SELECT pg_total_relation_size(%s)", (oid,)).fetchall()
    return int(size)


def print_growth(documents: int, before: Sizes, after: Sizes) -> None:
    """A row for each table that grew: rows per document, bytes per row, bytes per document."""
    print("| Table | Rows per document | Bytes per row | Bytes per document |\n|---|---:|---:|---:|")
    total = 0
    for name, (rows, size) in sorted(after.items(), key=lambda each: -each[1][1]):
        new_rows, new_bytes = rows - before[name][0], size - before[name][1]
        if new_rows > 0 and new_bytes > 0:
            total += new_bytes
            print(f"| {name} | {new_rows / documents:.1f} | {new_bytes / new_rows:.0f} | {new_bytes / documents:.0f} |")
    print(f"| all | | | {total / documents:.0f} |", flush=True)


def measure_index(url: str, rows: int, dim: int) -> None:
    """Bytes per vector of an index for searches."""
    vectors = np.random.default_rng(1).standard_normal((rows, dim)).astype(np.float32)
    with psycopg.connect(url, autocommit=True) as raw:
        register_vector(raw)
        raw.execute(f"CREATE TABLE sample (vector public.vector({dim}))")
        with raw.cursor() as cursor, cursor.copy("COPY sample FROM STDIN WITH (FORMAT BINARY)") as copy:
            copy.set_types(["vector"])
            for vector in vectors:
                copy.write_row([vector])
        raw.execute("SET maintenance_work_mem = '512MB'")
        raw.execute(f"CREATE INDEX nearest ON sample USING hnsw ((vector::halfvec({dim})) halfvec_ip_ops)")
        [[size]] = raw.execute("SELECT pg_relation_size('nearest')").fetchall()
    print(f"index of {rows:,} vectors of {dim}: {size / rows:.0f} bytes each", flush=True)


async def run(sizes: list[int], url: str, home: Path) -> None:
    """Ingest up to each of the sizes, and print how the tables grew from the first to the last."""
    apart, measured, held = SubprocessProvider(), list[Sizes](), 0
    async with (
        open_llm(apart) as model,
        Engine.open(home, language=model, embedder=HashingEmbedder(), options=EngineOptions(database=url)) as engine,
    ):
        for size in sorted(sizes):
            await ingest(engine, size - held, held)
            held = size
            measured.append(await asyncio.to_thread(read_sizes, url))
    print_growth(max(sizes) - min(sizes), measured[0], measured[-1])


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs=2, default=[100, 300])
    parser.add_argument("--index-rows", type=int, default=0)
    arguments = parser.parse_args()
    with start_postgres() as url, temporary_folder() as home:
        asyncio.run(run(arguments.documents, url, Path(home)))
        if arguments.index_rows:
            measure_index(url, arguments.index_rows, HashingEmbedder().dim)


if __name__ == "__main__":
    main()
