"""Fill a data directory with a corpus: `python -m benchmarks.scale.fill HOME DOCUMENTS SPACES FACTS [DATABASE]`.

Ingesting 100,000 documents takes half an hour of processor time. So chunks, facts and profiles are computed by the
engine's own functions, but written in bulk: rows of the ledger in one transaction, then vectors and graph. A test
compares the result with an ingest of the same documents. Only descriptions of hubs differ: they are not summarized.
With the address of a PostgreSQL database, vectors are written there, and the rows of the ledger are copied into it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import psycopg

from benchmarks.hashing import HashingEmbedder
from benchmarks.plumbing import disk_mib
from benchmarks.scale.corpus import Corpus, LineLanguage
from benchmarks.scale.key_facts import SELECT_LINKS, SELECT_MENTIONS, read_facts
from engine import Document, Engine, EngineOptions
from engine.clock import SYSTEM_CLOCK
from engine.data_dir import DataDir
from engine.ingest.chunking import build_chunks
from engine.knowledge.duplicates.name_keys import spelling_key
from engine.knowledge.merge import (
    Fragment,
    clean_extraction,
    description_hash,
    join_newest,
    merge_entity,
    merge_relation,
)
from engine.llm.checked_embedder import embedder_identity
from engine.models import Chunk, Excerpt
from engine.options import ChunkingOptions, SummaryLimits
from engine.projection.embedding_text import entity_text, relation_text, text_hash
from engine.projection.postgres_storage import VECTORS_SCHEMA
from engine.scheduling.supervisor import Supervisor
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.kuzu import KuzuGraph
from engine.storage.ledger.content.chunks import _text_hash, chunks_by_key
from engine.storage.ledger.full_text.fts5 import register_search_text
from engine.storage.ledger.full_text.update import STEMS_VERSION
from engine.storage.ledger.postgres.ledger import fill_database
from engine.storage.ledger.records import Profile
from engine.storage.postgres.pool import open_pool
from engine.storage.vectors.base import VectorRow, VectorStore, VectorTable
from engine.storage.vectors.lance import LanceVectors
from engine.storage.vectors.pgvector import PostgresVectors
from engine.text.languages.detection import VERSION, find_languages, join_stem_terms
from engine.text.names import title_key
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter

BATCH = 4_000
GENERATION = 1


class BulkWriter:
    """Writes documents and their facts into an empty ledger; only the keys of names and pairs stay in memory."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._tokenizer, self._language, self._limits = O200kTokenizer(), LineLanguage(), SummaryLimits()
        self._spaces: dict[str, int] = {}
        self._languages = set[str]()
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        self._names: dict[tuple[int, str], int] = {}
        self._pairs: dict[tuple[int, int], int] = {}

    def write(self, documents: Iterable[Document]) -> None:
        """Write all rows but those of vectors and graph."""
        for number, document in enumerate(documents, 1):
            self._write_document(number, document)
        self._flush()
        self._write_profiles()
        self._db.execute("DELETE FROM uncompared_entity")  # as after a while without new names
        for language in self._languages:
            self._db.execute("INSERT OR IGNORE INTO stem_language VALUES (?)", (language,))
        done = ("generation", GENERATION), (STEMS_VERSION, VERSION)
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", done)

    def _write_document(self, number: int, document: Document) -> None:
        space = self._intern_space(document.space)
        [passage] = document.passages
        self._insert(
            "document",
            (number, document.key, space, space, "file", document.title, title_key(document.title), "", None, 0),
            ("indexed", "", "", 0, GENERATION, "", ""),
        )
        self._insert("passage", (number, number, passage.key, 0, None, "", "", "", passage.text))
        [(key, chunk)] = chunks_by_key(
            document.key, build_chunks(document.passages, self._tokenizer, ChunkingOptions())
        ).items()
        place = (number, space, space, 0, chunk.tokens, 0, 0)
        digest = self._language.extraction_key(Excerpt(chunk.text, document.title))
        stems = join_stem_terms(chunk.text)
        self._languages |= find_languages(stems.split())
        self._insert(
            "chunk", (number, key, *place), (chunk.text, _text_hash(chunk.text), digest, 0, 0, 0, "", "", stems)
        )
        [piece] = chunk.pieces
        self._insert("chunk_passage", (number, 0, number, piece.start, piece.stop))
        self._write_facts(number, space, chunk)

    def _write_facts(self, number: int, space: int, chunk: Chunk) -> None:
        cleaned = clean_extraction(self._language._extract(Excerpt(chunk.text, "")))
        for place, (canonical, mention) in enumerate(cleaned.mentions):
            name, digest = self._intern_name(space, canonical), description_hash(mention.description)
            row = (number, place, name, 0, digest, mention.name, mention.type, mention.description)
            self._insert("mention", row)
        for place, (a, b, link) in enumerate(cleaned.links):
            first, second = sorted((self._names[space, a], self._names[space, b]))
            pair, digest = self._intern_pair(space, first, second), description_hash(link.description)
            self._insert("link", (number, place, pair, 0, digest, link.keywords, link.description))

    def _intern_space(self, name: str) -> int:
        if name not in self._spaces:
            self._spaces[name] = len(self._spaces) + 1
            self._insert("space", (self._spaces[name], name))
            self._insert("room", (self._spaces[name], name, None))
        return self._spaces[name]

    def _intern_name(self, space: int, canonical: str) -> int:
        found = self._names.get((space, canonical))
        if found is None:
            found = self._names[space, canonical] = len(self._names) + 1
            self._insert("name", (found, space, canonical, found, spelling_key(canonical)))
        return found

    def _intern_pair(self, space: int, first: int, second: int) -> int:
        found = self._pairs.get((first, second))
        if found is None:
            found = self._pairs[first, second] = len(self._pairs) + 1
            self._insert("pair", (found, space, first, second, found))
        return found

    def _insert(self, table: str, *parts: Sequence[object]) -> None:
        """Collect a row; tables are written in the order of their first rows."""
        waiting = self._rows.setdefault(table, [])
        waiting.append(tuple(chain.from_iterable(parts)))
        if len(waiting) == BATCH:
            self._flush()

    def _flush(self) -> None:
        for table, rows in self._rows.items():
            if rows:
                self._db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
                rows.clear()

    def _write_profiles(self) -> None:
        """Merge the facts that are stored; entities first: the rows of relations count their degrees."""
        identity = embedder_identity(HashingEmbedder())
        for facts in read_facts(self._db, SELECT_MENTIONS):
            merged = merge_entity(facts.counts)
            row = Profile(
                facts.id, facts.space, merged.name, self._join(merged.fragments), merged.mentions, merged.type
            )
            digest = text_hash(identity, entity_text(row))
            texts = (row.label, row.type, row.description)
            self._insert("entity", (row.id, row.space, *texts, row.count, 0, 1, digest, None))
        self._flush()
        labels = dict[int, str](self._db.execute("SELECT id, name FROM entity"))
        for facts in read_facts(self._db, SELECT_LINKS):
            related = merge_relation(facts.counts)
            text = self._join(related.fragments)
            row = Profile(facts.id, facts.space, related.keywords, text, related.weight, ends=facts.ends)
            digest = text_hash(identity, relation_text(row, labels))
            place = (row.id, row.space, *row.ends)
            self._insert("relation", place, (row.label, row.description, row.count, 1, digest, None))
        self._flush()

    def _join(self, fragments: Sequence[Fragment]) -> str:
        alone = len(fragments) == 1  # most are; counting their tokens would take half of the time
        return fragments[0].text if alone else join_newest(fragments, self._tokenizer.count, self._limits)


async def write_vectors(
    home: DataDir, db: sqlite3.Connection, open_store: Callable[[], Coroutine[None, None, VectorStore]]
) -> None:
    """Embed chunks, entities and relations, and build the indexes; vectors of chunks are also in the ledger's cache.

    Each batch is written by a store of its own, which is closed before it has enough rows to begin an index.
    """
    rows: dict[VectorTable, Iterable[tuple[VectorRow, str]]] = {
        "chunks": (
            (VectorRow(id_, space, room, 0), text)
            for id_, space, room, text in db.execute("SELECT id, space, room, text FROM chunk ORDER BY id")
        ),
        "entities": ((VectorRow(row.id, row.space, 0, 0), entity_text(row)) for row in _read_entities(db)),
        "relations": (
            (VectorRow(row.id, row.space, 0, 0), relation_text(row, labels)) for row, labels in _read_relations(db)
        ),
    }
    embedder = HashingEmbedder()
    for table, found in rows.items():
        for batch in _batched(found):
            vectors = await embedder.embed([text for _, text in batch], UsageMeter())
            store = await open_store()
            await store.upsert(table, [row for row, _ in batch], vectors)
            await store.close()
            if table == "chunks":
                _cache_vectors(home.ledger_path, [text for _, text in batch], vectors)
    store = await open_store()
    await store.compact()
    await store.close()


def _read_entities(db: sqlite3.Connection) -> Iterator[Profile]:
    rows = db.execute("SELECT id, space, name, description, mention_count, type FROM entity ORDER BY id")
    return (Profile(*row) for row in rows)


def _read_relations(db: sqlite3.Connection) -> Iterator[tuple[Profile, dict[int, str]]]:
    """The profiles of pairs, each with the names of its ends by id."""
    rows = db.execute(
        "SELECT relation.id, relation.space, keywords, relation.description, weight, a, first.name, b, second.name"
        " FROM relation JOIN entity AS first ON first.id = a JOIN entity AS second ON second.id = b"
        " ORDER BY relation.id"
    )
    for id_, space, keywords, text, weight, a, first, b, second in rows:
        yield Profile(id_, space, keywords, text, weight, ends=(a, b)), {a: first, b: second}


def _cache_vectors(ledger: Path, texts: Sequence[str], vectors: np.ndarray) -> None:
    identity = embedder_identity(HashingEmbedder())
    with closing(sqlite3.connect(ledger)) as db, db:
        rows = ((identity, _text_hash(text), 1, row.tobytes()) for text, row in zip(texts, vectors, strict=True))
        db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?, ?)", rows)


def _batched(rows: Iterable[tuple[VectorRow, str]]) -> Iterable[list[tuple[VectorRow, str]]]:
    batch = list[tuple[VectorRow, str]]()
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def write_graph(home: DataDir, db: sqlite3.Connection) -> None:
    graph = await KuzuGraph.open(home.graph_path("kuzu"))
    nodes = (GraphNode(*row) for row in db.execute("SELECT id, space FROM entity ORDER BY id"))
    edges = (GraphEdge(*row) for row in db.execute("SELECT id, a, b, weight FROM relation ORDER BY id"))
    await graph.replace_all(nodes, edges)
    await graph.close()


async def fill_postgres(home: DataDir, db: sqlite3.Connection, database: str) -> None:
    """Write vectors into the database, copy the ledger, and gather the statistics that the server gathers in time."""
    options = replace(EngineOptions(), database=database)
    async with Engine.open(home.path, language=LineLanguage(), embedder=HashingEmbedder(), options=options):
        pass  # creates the tables
    async with open_pool(database, "vectors", VECTORS_SCHEMA) as pool:
        await write_vectors(
            home,
            db,
            partial(PostgresVectors.open, pool, HashingEmbedder().dim, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK),
        )
    await fill_database(options, home.ledger_path, SYSTEM_CLOCK, replace=True, also=_keep_vectors)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def _keep_vectors(raw: psycopg.Connection) -> None:
    raw.execute("DELETE FROM meta WHERE key = 'reindexing'")


async def fill(home: Path, corpus: Corpus, database: str = "") -> dict[str, float]:
    """Counts, seconds, and MiB of disk."""
    began, processor = time.perf_counter(), time.process_time()
    async with Engine.open(home, language=LineLanguage(), embedder=HashingEmbedder()):
        pass  # creates the stores and their settings
    folder = DataDir(home)
    with closing(sqlite3.connect(folder.ledger_path, check_same_thread=False)) as db:
        db.executescript("PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
        register_search_text(db)
        db.execute("PRAGMA journal_mode = OFF")  # a log would hold each page as often as it is written
        with db:
            BulkWriter(db).write(map(corpus.build_document, range(corpus.documents)))
        db.execute("PRAGMA journal_mode = WAL")
        [[entities, largest_degree]] = db.execute("SELECT COUNT(*), MAX(degree) FROM entity")
        [[relations]] = db.execute("SELECT COUNT(*) FROM relation")
        if database:
            await fill_postgres(folder, db, database)
        else:
            open_store = partial(
                LanceVectors.open, folder.vectors_path, HashingEmbedder().dim, Supervisor(SYSTEM_CLOCK)
            )
            await write_vectors(folder, db, open_store)
            await write_graph(folder, db)
    return {
        "chunks": corpus.documents,
        "entities": entities,
        "relations": relations,
        "largest degree": largest_degree,
        "seconds": round(time.perf_counter() - began, 1),
        "processor seconds": round(time.process_time() - processor, 1),
        "MiB on disk": round(disk_mib(home)),
    }


def main() -> None:
    home, documents, spaces, facts, *database = sys.argv[1:]
    corpus = Corpus(int(documents), int(spaces), int(facts))
    print(json.dumps(asyncio.run(fill(Path(home), corpus, *database))), flush=True)


if __name__ == "__main__":
    main()
