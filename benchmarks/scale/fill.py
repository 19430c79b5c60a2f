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
from collections.abc import Callable, Coroutine, Iterable, Sequence
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
from benchmarks.scale.key_facts import KeyFactsBuilder
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
    """Writes documents and their facts into an empty ledger."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._tokenizer, self._language, self._limits = O200kTokenizer(), LineLanguage(), SummaryLimits()
        self._spaces: dict[str, int] = {}
        self._languages = set[str]()
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        self.names: dict[tuple[int, str], KeyFactsBuilder] = {}
        self.pairs: dict[tuple[int, int], KeyFactsBuilder] = {}
        self.chunks: list[tuple[int, int, int, str]] = []  # id, space, room, text
        self.entities: list[Profile] = []
        self.relations: list[Profile] = []

    def write(self, documents: Iterable[Document]) -> None:
        """Write all rows but those of vectors and graph."""
        for number, document in enumerate(documents, 1):
            self._write_document(number, document)
        self._write_profiles()
        self._flush()
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
        self.chunks.append((number, space, space, chunk.text))
        self._write_facts(number, space, chunk)

    def _write_facts(self, number: int, space: int, chunk: Chunk) -> None:
        cleaned = clean_extraction(self._language._extract(Excerpt(chunk.text, "")))
        for place, (canonical, mention) in enumerate(cleaned.mentions):
            name = self._intern_name(space, canonical)
            digest = description_hash(mention.description)
            name.add(number, mention.name, mention.type, Fragment(0, digest, mention.description))
            row = (number, place, name.id, 0, digest, mention.name, mention.type, mention.description)
            self._insert("mention", row)
        for place, (a, b, link) in enumerate(cleaned.links):
            first, second = sorted((self.names[space, a].id, self.names[space, b].id))
            pair = self._intern_pair(space, first, second)
            digest = description_hash(link.description)
            pair.add(number, link.keywords, "stated", Fragment(0, digest, link.description))
            self._insert("link", (number, place, pair.id, 0, digest, link.keywords, link.description))

    def _intern_space(self, name: str) -> int:
        if name not in self._spaces:
            self._spaces[name] = len(self._spaces) + 1
            self._insert("space", (self._spaces[name], name))
            self._insert("room", (self._spaces[name], name, None))
        return self._spaces[name]

    def _intern_name(self, space: int, canonical: str) -> KeyFactsBuilder:
        found = self.names.get((space, canonical))
        if found is None:
            found = self.names[space, canonical] = KeyFactsBuilder(len(self.names) + 1, space)
            self._insert("name", (found.id, space, canonical, found.id, spelling_key(canonical)))
        return found

    def _intern_pair(self, space: int, first: int, second: int) -> KeyFactsBuilder:
        found = self.pairs.get((first, second))
        if found is None:
            found = self.pairs[first, second] = KeyFactsBuilder(len(self.pairs) + 1, space, (first, second))
            self._insert("pair", (found.id, space, first, second, found.id))
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
        """Entities first: the rows of relations count their degrees."""
        identity = embedder_identity(HashingEmbedder())
        self.entities = [self._build_entity(name) for name in self.names.values()]
        for row in self.entities:
            digest = text_hash(identity, entity_text(row))
            texts = (row.label, row.type, row.description)
            self._insert("entity", (row.id, row.space, *texts, row.count, 0, 1, digest, None))
        self.relations = [self._build_relation(pair) for pair in self.pairs.values()]
        surfaces = self.labels()
        for row in self.relations:
            digest = text_hash(identity, relation_text(row, surfaces))
            place = (row.id, row.space, *row.ends)
            self._insert("relation", place, (row.label, row.description, row.count, 1, digest, None))

    def labels(self) -> dict[int, str]:
        """The names of entities as written, by id."""
        return {row.id: row.label for row in self.entities}

    def _build_entity(self, key: KeyFactsBuilder) -> Profile:
        merged = merge_entity(key.counts)
        return Profile(key.id, key.space, merged.name, self._join(merged.fragments), merged.mentions, merged.type)

    def _build_relation(self, key: KeyFactsBuilder) -> Profile:
        merged = merge_relation(key.counts)
        text = self._join(merged.fragments)
        return Profile(key.id, key.space, merged.keywords, text, merged.weight, ends=(key.ends[0], key.ends[1]))

    def _join(self, fragments: Sequence[Fragment]) -> str:
        alone = len(fragments) == 1  # most are; counting their tokens would take half of the time
        return fragments[0].text if alone else join_newest(fragments, self._tokenizer.count, self._limits)


async def write_vectors(
    home: DataDir, writer: BulkWriter, open_store: Callable[[], Coroutine[None, None, VectorStore]]
) -> None:
    """Embed chunks, entities and relations, and build the indexes; vectors of chunks are also in the ledger's cache.

    Each batch is written by a store of its own, which is closed before it has enough rows to begin an index.
    """
    surfaces = writer.labels()
    rows: dict[VectorTable, Iterable[tuple[VectorRow, str]]] = {
        "chunks": ((VectorRow(id_, space, room, 0), text) for id_, space, room, text in writer.chunks),
        "entities": ((VectorRow(row.id, row.space, 0, 0), entity_text(row)) for row in writer.entities),
        "relations": ((VectorRow(row.id, row.space, 0, 0), relation_text(row, surfaces)) for row in writer.relations),
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


async def write_graph(home: DataDir, writer: BulkWriter) -> None:
    graph = await KuzuGraph.open(home.graph_path("kuzu"))
    nodes = [GraphNode(row.id, row.space) for row in writer.entities]
    edges = [GraphEdge(row.id, *row.ends, row.count) for row in writer.relations]
    await graph.replace_all(nodes, edges)
    await graph.close()


async def fill_postgres(home: DataDir, writer: BulkWriter, database: str) -> None:
    """Write vectors into the database, copy the ledger, and gather the statistics that the server gathers in time."""
    options = replace(EngineOptions(), database=database)
    async with Engine.open(home.path, language=LineLanguage(), embedder=HashingEmbedder(), options=options):
        pass  # creates the tables
    async with open_pool(database, "vectors", VECTORS_SCHEMA) as pool:
        await write_vectors(
            home,
            writer,
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
    with closing(sqlite3.connect(folder.ledger_path)) as db:
        db.executescript("PRAGMA cache_size = -1000000; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
        register_search_text(db)
        writer = BulkWriter(db)
        with db:
            writer.write(map(corpus.build_document, range(corpus.documents)))
        [[largest_degree]] = db.execute("SELECT MAX(degree) FROM entity")
    if database:
        await fill_postgres(folder, writer, database)
    else:
        await write_vectors(
            folder,
            writer,
            partial(LanceVectors.open, folder.vectors_path, HashingEmbedder().dim, Supervisor(SYSTEM_CLOCK)),
        )
        await write_graph(folder, writer)
    return {
        "chunks": corpus.documents,
        "entities": len(writer.names),
        "relations": len(writer.pairs),
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
