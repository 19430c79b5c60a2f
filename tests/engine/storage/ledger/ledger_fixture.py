"""Short ways to fill a ledger and to look into it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from engine.errors import EngineError
from engine.ingest.chunking import build_chunks, rechunk_region
from engine.knowledge.merge import SEPARATOR, merge_entity, merge_relation
from engine.models import Chunk, Document, Extraction, Link, Mention, Passage, Scope
from engine.options import ChunkingOptions
from engine.storage.ledger import Ledger
from engine.storage.ledger.content.documents import Documents
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.profiles import Profiles
from engine.storage.ledger.queries.export import export_canonical
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records import KeyFacts, ScopeIds
from engine.storage.ledger.records.content import DocumentChange
from engine.storage.ledger.records.projection import EmbeddingFailure, KeyKind, Profile, SpaceTurn, StaleKey
from engine.storage.ledger.work.claims import Claims, StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.sql.connection import Connection
from engine.storage.sql.database import SqlDatabase
from tests.support.engine_fixture import doc
from tests.support.tokenizers import CharacterTokenizer

only_sqlite = pytest.mark.parametrize("place", ["sqlite"], indirect=True)  # what only SQLite can show
NOW = 0.0  # what has never failed is due at any time
CUT = ChunkingOptions(size=60, overlap=0, target_size=1, hash_modulo=1)  # a chunk ends after every passage


def cut(passages: Sequence[Passage]) -> list[Chunk]:
    return build_chunks(passages, CharacterTokenizer(), CUT)


def extraction(*names: str, text: str = "said") -> Extraction:
    """Every name is mentioned, and linked to the next one."""
    links = [Link(a, b, "beside", text) for a, b in pairwise(names)]
    return Extraction(tuple(Mention(name, "person", text) for name in names), tuple(links))


class ExplainingConnection:
    """Keeps the query plans of statements, and returns no rows."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.plan: list[str] = []

    def execute_fetchall(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        self.plan += [row[3] for row in self.db.execute_fetchall(f"EXPLAIN QUERY PLAN {sql}", parameters)]
        return []


@asynccontextmanager
async def held_snapshot(database: SqlDatabase) -> AsyncIterator[None]:
    """While inside, a reader has begun, and does not end."""
    begun, ending = threading.Event(), threading.Event()

    def hold(db: Connection) -> None:
        Settings(db).get("n")
        begun.set()
        ending.wait()

    holding = asyncio.create_task(database.read(hold))
    await asyncio.to_thread(begun.wait)
    try:
        yield
    finally:
        ending.set()
        await holding


@dataclass(slots=True)
class LedgerFixture:
    """A ledger with what a test does to it."""

    ledger: Ledger | PostgresLedger

    @property
    def read(self) -> Callable[..., Awaitable[Any]]:
        return self.ledger.read

    @property
    def write(self) -> Callable[..., Awaitable[Any]]:
        return self.ledger.write

    async def explain(self, query: Callable[..., Any], *arguments: Any) -> list[str]:
        """The steps by which SQLite would run the statements of a query."""

        def explain(db: Connection) -> list[str]:
            explaining = ExplainingConnection(db)
            query(explaining, *arguments)
            return explaining.plan

        steps: list[str] = await self.read(explain)
        return steps

    async def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        def fetch(db: Connection) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in db.execute_fetchall(sql, parameters)]

        return await self.ledger.read(fetch)

    async def column(self, sql: str, *parameters: Any) -> list[Any]:
        return [row[0] for row in await self.rows(sql, *parameters)]

    async def execute(self, *statements: str, parameters: Sequence[Any] = ()) -> None:
        def run(db: Connection) -> None:
            for statement in statements:
                db.execute(statement, parameters)

        await self.ledger.write(run)

    async def add(self, document: Document) -> bool:
        return await self.ledger.write(Documents.save, document, cut(document.passages))

    async def amend(self, key: str, *upsert: Passage, remove: str = "", is_open: bool | None = None) -> bool:
        change = DocumentChange(upsert, frozenset(filter(None, [remove])), is_open)
        return await self.ledger.amendments.amend(
            key, change, lambda region: rechunk_region(region, CharacterTokenizer(), CUT)
        )

    async def give_up_embedding(self, chunk: int, error: EngineError) -> None:
        """Let the only try to embed a chunk fail."""
        [generation] = await self.column("SELECT generation FROM stale_key WHERE kind = 0 AND id = ?", chunk)
        failure = EmbeddingFailure(StaleKey(KeyKind.CHUNK, chunk, generation), error)
        await self.write(WorkQueue.record_failures, [failure], 1, NOW)

    async def forget(self, key: str) -> bool:
        return await self.ledger.write(Documents.delete, key)

    async def move_room(self, room: str, space: str) -> int:
        return await self.ledger.write(Documents.move_room, room, space)

    async def add_facts(
        self, key: str, *extractions: Extraction, space: str = "here", time: datetime | None = None
    ) -> list[int]:
        """Add a document with one chunk for each extraction; gives the ids of its chunks."""
        texts = [f"{key} tells {n}" for n in range(len(extractions))]
        await self.add(doc(key, *texts, space=space, room=f"room of {space}", time=time))
        ids = await self.column("SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.key = ?", key)
        for id_, each in zip(sorted(ids), extractions, strict=True):
            await self.ledger.write(Facts.save_extraction, id_, f"{key} {id_}".encode(), each)
        return sorted(ids)

    async def project(self) -> None:
        """Profiles of everything that is stale, by joining; marks gone. Neither graph nor vectors."""

        def work(db: Connection) -> None:
            due = Claims(db).claim_profiles(1000, NOW, SpaceTurn())
            for kind, read, write, fold in (
                (KeyKind.NAME, Profiles.load_names, Profiles.upsert_entities, _entity),
                (KeyKind.PAIR, Profiles.load_pairs, Profiles.upsert_relations, _relation),
            ):
                found = [key for key in due.keys if key.kind == kind]
                keys = read(db, [mark.id for mark in found], 100)
                gone = {mark.id for mark in found} - {key.id for key in keys if key.counts}
                Profiles(db).delete_profiles(kind, gone)  # type: ignore[arg-type]
                write(db, [fold(key) for key in keys if key.counts])
                StaleKeys(db).remove(found)

        await self.ledger.write(work)

    async def stale(self) -> set[tuple[str, str]]:
        """What is stale, in words."""
        names = await self.rows("SELECT n.canonical FROM stale_key s JOIN name n ON s.kind = 1 AND n.id = s.id")
        pairs = await self.rows(
            "SELECT @least(x.canonical, y.canonical), @greatest(x.canonical, y.canonical) FROM stale_key s"
            " JOIN pair p ON s.kind = 2 AND p.id = s.id JOIN name x ON x.id = p.a JOIN name y ON y.id = p.b"
        )
        return {(*row, "") if len(row) == 1 else row for row in (*names, *pairs)}

    async def clear_stale(self) -> None:
        await self.execute("DELETE FROM stale_key")

    async def scope_ids(self, spaces: Iterable[str] = ("here",), rooms: Iterable[str] = ()) -> ScopeIds:
        return await self.ledger.read(Search.resolve_scope, Scope(frozenset(spaces), frozenset(rooms)))

    async def export(self, *spaces: str) -> list[dict[str, Any]]:
        async with self.ledger.stream_connection() as db:
            return [json.loads(line) async for line in export_canonical(db, spaces or None)]


def _entity(key: KeyFacts) -> Profile:
    assert key.counts is not None
    made = merge_entity(key.counts, key.chosen_name)
    text = SEPARATOR.join(fragment.text for fragment in made.fragments)
    return Profile(key.id, key.space, made.name, key.pinned_description or text, made.mentions, made.type)


def _relation(key: KeyFacts) -> Profile:
    assert key.counts is not None
    made = merge_relation(key.counts)
    text = SEPARATOR.join(fragment.text for fragment in made.fragments)
    return Profile(key.id, key.space, made.keywords, key.pinned_description or text, made.weight, "", key.ends)
