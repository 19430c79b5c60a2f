"""Graph and vectors in SurrealDB, embedded in the data directory or on a server: a plug-in of stores."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import structlog

from engine import Stores
from engine.errors import CorruptProjection, StoreError
from engine.storage.files import ensure_directory, remove_tree
from surrealdb_stores.address import FILES, parse_surreal_address
from surrealdb_stores.database import SurrealDatabase
from surrealdb_stores.graph import SurrealGraph
from surrealdb_stores.settings import SurrealSettings
from surrealdb_stores.vectors import SurrealVectors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.settings import Settings
    from engine.options import StoresOpener, StoresPlace

log = structlog.get_logger(__name__)

EMBEDDED = "embedded"
ADDRESS_HINT = "Set THREADLORE_SURREALDB_ADDRESS to embedded, or to ws://user:password@host:8000/namespace/database."


def create_opener(settings: Settings) -> StoresOpener:
    """The entry point: what opens the stores at the address of the settings. Raises BadSetting."""
    return build_opener(SurrealSettings.load(settings).address.get_secret_value())


def build_opener(address: str) -> StoresOpener:
    """What opens the stores at an address, for `EngineOptions(open_stores=…)`."""
    return partial(open_surreal_stores, address)


@asynccontextmanager
async def open_surreal_stores(address: str, place: StoresPlace) -> AsyncIterator[Stores]:
    """Both stores in one database. Content of another ledger, and outdated vectors, are erased. Raises StoreError."""
    database = await _open_database(place.folder, address)
    try:
        if place.is_outdated:
            await SurrealVectors.erase(database)
        vectors = await SurrealVectors.open(database, place.dim, place.cache_bytes)
        graph = await SurrealGraph.open(database)
        if await vectors.find_last_id("chunks") > place.last_chunk:
            log.warning("surrealdb.ledger_is_older")
            await vectors.clear()
            await graph.replace_all((), ())
        try:
            yield Stores(graph, vectors)
        finally:
            await vectors.close()
    finally:
        await database.close()


async def _open_database(folder: Path, address: str) -> SurrealDatabase:
    """The database on a server, or in a folder of this machine, which is emptied if it is damaged."""
    if address != EMBEDDED:
        return await SurrealDatabase.open(_check_server_address(address))
    files = f"{FILES}{folder / 'current'}"
    try:
        ensure_directory(folder)
        return await SurrealDatabase.open(files)
    except CorruptProjection as error:
        log.warning("surrealdb.recreated", error=str(error))
        remove_tree(folder)
        return await SurrealDatabase.open(files)


def _check_server_address(text: str) -> str:
    """The address of a server. Raises StoreError; a folder is refused, because nothing would lock it."""
    try:
        is_server = parse_surreal_address(text).is_server
    except ValueError:
        is_server = False
    if not is_server:
        raise StoreError("The address of SurrealDB cannot be used.", hint=ADDRESS_HINT)
    return text
