"""Engines for tests: on the real stores, or with graph and vectors in memory; and what tests ask of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.clock import SYSTEM_CLOCK, Clock
from engine.engine import Engine
from engine.llm.base import Embedder, LanguageModel
from engine.models import Document, Passage, Scope
from engine.options import EngineOptions
from engine.projection.open_stores import Stores
from engine.storage.ledger import LedgerStore
from engine.storage.ledger.queries import export
from tests.support.databases import find_database
from tests.support.fake_embedder import HashEmbedder
from tests.support.memory_graph import MemoryGraph
from tests.support.memory_vectors import MemoryVectors
from tests.support.patience import PATIENCE
from tests.support.toy_language import ToyLanguage

_STORES: dict[tuple[Path, str, int], Stores] = {}  # of the folders that this run of the tests opened

HERE = Scope(frozenset({"here"}), frozenset())


def open_engine(
    home: Path,
    language: LanguageModel | None = None,
    embedder: Embedder | None = None,
    options: EngineOptions | None = None,
) -> AbstractAsyncContextManager[Engine]:
    """An engine on Kùzu and LanceDB."""
    return Engine.open(
        home,
        language=language or ToyLanguage(),
        embedder=embedder or HashEmbedder(),
        options=replace(options or EngineOptions(), database=find_database(home)),
    )


@asynccontextmanager
async def open_memory_engine(
    home: Path,
    language: LanguageModel | None = None,
    embedder: Embedder | None = None,
    options: EngineOptions | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> AsyncIterator[Engine]:
    """An engine on a real ledger, with graph and vectors in memory; both are kept until the home is opened again."""
    embedder = embedder or HashEmbedder()
    empty = Stores(MemoryGraph(), MemoryVectors(embedder.dim))
    stores = _STORES.setdefault((home, embedder.name, embedder.dim), empty)
    async with Engine.open(
        home,
        language=language or ToyLanguage(),
        embedder=embedder,
        options=replace(options or EngineOptions(), replace_embedder=True, database=find_database(home)),
        stores=stores,
        clock=clock,
    ) as engine:
        yield engine


class Panic(BaseException):
    """What a native library raises when it panics: no Exception."""


async def statuses(engine: Engine) -> dict[str, str]:
    """The status of each document by its key."""
    return {document.key: document.status for document in await engine.documents.list(HERE)}


async def add_indexed(engine: Engine, *texts: str, stop_worker: bool = False) -> None:
    """Add documents "d0", "d1"…, wait until they are indexed, and let the worker stop if wanted."""
    for number, text in enumerate(texts):
        await engine.documents.add(doc(f"d{number}", text))
    await engine.wait_until_indexed()
    if stop_worker:
        await engine._worker.stop()
        async with engine._projector.suspend():  # finishes the delivery of the last batch
            pass


async def wait_until(condition: Callable[[], Awaitable[bool]] | Callable[[], bool]) -> None:
    """Return once a condition holds for which there is no event; fails after 20 seconds."""
    async with asyncio.timeout(PATIENCE):
        while not (holds if isinstance(holds := condition(), bool) else await holds):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def doc(key: str, *texts: str, space: str = "here", room: str = "hall", time: datetime | None = None) -> Document:
    """A closed document of these passages."""
    passages = tuple(Passage(f"p{n}", text, f"part {n}", position=n) for n, text in enumerate(texts))
    return Document(key, space, room, key.title(), passages, time)


def thread(key: str, *texts: str, is_open: bool = True, space: str = "here", room: str = "hall") -> Document:
    """A conversation of these messages."""
    passages = tuple(Passage(f"m{n:03}", text, author="Ada", position=n) for n, text in enumerate(texts))
    return Document(key, space, room, key.title(), passages, kind="conversation", is_open=is_open)


def find_files_containing(folder: Path, word: str) -> list[str]:
    """The files anywhere in a folder in which a word stands, as UTF-8 or UTF-16."""
    forms = [word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be")]
    return [file.name for file in sorted(folder.rglob("*")) if any(form in read_file(file) for form in forms)]


def read_file(file: Path) -> bytes:
    """The bytes of a file; a store may remove one while somebody looks."""
    try:
        return file.read_bytes() if file.is_file() else b""
    except FileNotFoundError:
        return b""


async def canonical_export(engine: Engine) -> list[str]:
    """The canonical export of everything, of every space."""
    async with engine._ledger.stream_connection() as db:
        return [line async for line in export.export_canonical(db)]


async def export_state(engine: Engine) -> list[str]:
    """The canonical export, once everything is indexed."""
    await engine.wait_until_indexed()
    return await canonical_export(engine)


async def is_clean(engine: Engine) -> bool:
    """Whether graph and vectors are what the ledger says, and not empty."""
    report = await engine.maintenance.verify()
    assert [str(difference) for difference in report.differences] == []
    return report.compared > 0


async def fetch_rows(ledger: LedgerStore, statement: str) -> list[tuple[Any, ...]]:
    """The rows of a statement about the tables of a ledger."""
    return await ledger.read(lambda db: [tuple(row) for row in db.execute_fetchall(statement)])
