"""Graph and vectors in SurrealDB, embedded in the data directory or on a server (experimental)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.errors import CorruptProjection, StoreError
from engine.projection.open_stores import Stores, check_given_stores
from engine.storage.files import ensure_directory, remove_tree
from engine.storage.graph.surreal import SurrealGraph
from engine.storage.surreal_address import FILES, parse_surreal_address
from engine.storage.surreal_database import SurrealDatabase
from engine.storage.vectors.surreal import SurrealVectors

if TYPE_CHECKING:
    from contextlib import AsyncExitStack
    from pathlib import Path

    from engine.data_dir import DataDir
    from engine.llm.base import Embedder
    from engine.options import EngineOptions
    from engine.storage.ledger.api import LedgerStore

log = structlog.get_logger(__name__)

EMBEDDED = "embedded"
ADDRESS_HINT = "Set THREADLORE_SURREALDB to embedded, or to ws://user:password@host:8000/namespace/database."


async def open_surreal_stores(
    folder: DataDir, ledger: LedgerStore, embedder: Embedder, options: EngineOptions, stack: AsyncExitStack
) -> Stores:
    """Open both stores in one database; `stack` closes it. Stores that lack content are filled again from the ledger.

    Vectors that are marked for reindexing are erased first, because their dimension may differ. Other stores in the
    data directory are removed, because forgotten content would stay in them. Raises StoreError.
    """
    database = await _open_database(folder.surreal_path, options.surrealdb)
    stack.push_async_callback(database.close)
    if await ledger.work.get_setting("reindexing"):
        await SurrealVectors.erase(database)
    vectors = await SurrealVectors.open(database, embedder.dim, options.vector_cache_bytes)
    stack.push_async_callback(vectors.close)
    if await vectors.find_last_id("chunks") > await ledger.stats.find_last_chunk_id():
        log.warning("surrealdb.ledger_is_older")
        await ledger.work.set_setting("reindexing", 1)
    stores = Stores(await SurrealGraph.open(database), vectors)
    await check_given_stores(ledger, stores, embedder)
    folder.remove_projections(keep=(folder.surreal_path,))
    return stores


async def _open_database(path: Path, place: str) -> SurrealDatabase:
    """The database on a server, or in a folder of this machine, which is emptied if it is damaged."""
    if place != EMBEDDED:
        return await SurrealDatabase.open(_check_server_address(place))
    address = f"{FILES}{path / 'current'}"
    try:
        ensure_directory(path)
        return await SurrealDatabase.open(address)
    except CorruptProjection as error:
        log.warning("surrealdb.recreated", error=str(error))
        remove_tree(path)
        return await SurrealDatabase.open(address)


def _check_server_address(text: str) -> str:
    """The address of a server. Raises StoreError; a folder is refused, because nothing would lock it."""
    try:
        is_server = parse_surreal_address(text).is_server
    except ValueError:
        is_server = False
    if not is_server:
        raise StoreError("The address of SurrealDB cannot be used.", hint=ADDRESS_HINT)
    return text
