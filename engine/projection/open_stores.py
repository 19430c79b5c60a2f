"""Open the graph and the vector store; missing, foreign or damaged ones are filled again from the ledger."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import structlog

from engine.errors import CorruptLedger, CorruptProjection, EngineError
from engine.llm.checked_embedder import embedder_identity
from engine.options import StoresPlace
from engine.projection.embedder_change import add_former, load_places
from engine.storage.files import remove_tree
from engine.storage.graph.read_only import ReadOnlyGraph
from engine.text.similarity import is_same_vector

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from engine.data_dir import DataDir
    from engine.llm.base import Embedder
    from engine.options import EngineOptions, StoresOpener
    from engine.runtime import FormerVectors
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.graph.base import GraphStore
    from engine.storage.ledger import LedgerStore
    from engine.storage.vectors.base import VectorStore
    from engine.storage.vectors.lance import LanceVectors

log = structlog.get_logger(__name__)

LEDGER_BEHIND_HINT = (
    "Restore a backup with `threadlore restore FILE --force`, or continue with the remaining data: `threadlore reindex`"
    " rebuilds graph and vectors from it."
)
SAMPLE_SIZE = 20  # rows of each given store that are compared with the ledger
MIN_SAME_SIMILARITY = 0.9
OTHER_STORES_USED = "other_stores_used"  # the stores in the data directory lack the changes of a run with given stores
GRAPH_UNFILLED = "unfilled"  # a partially filled graph, left by a crash, must not count as complete


@dataclass(frozen=True, slots=True)
class Stores:
    """A graph and a vector store to use instead of those in the data directory; the caller closes them.

    A sample is compared with the ledger when the engine opens: empty or foreign stores are filled from the ledger.
    `former`: the vectors of a former embedder, which are not made again yet.
    """

    graph: GraphStore
    vectors: VectorStore
    former: FormerVectors | None = None


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """Opens the graph and the vectors in a data directory; `supervisor` runs their maintenance."""

    folder: DataDir
    options: EngineOptions
    supervisor: Supervisor

    async def open(self, ledger: LedgerStore, dim: int, former: Embedder | None, stack: AsyncExitStack) -> Stores:
        """Open the graph and vector store of the data directory; `stack` closes them.

        They are filled again if the last run used stores given by its caller. `former`: the embedder of former vectors.
        """
        await asyncio.to_thread(_import_libraries)
        await refill_after_given_stores(ledger)
        vectors, left = await self._open_vectors(ledger, dim, former, stack)
        stack.push_async_callback(vectors.close)
        graph = await open_graph(self.folder, self.options, ledger)
        stack.push_async_callback(graph.close)
        return Stores(graph, vectors, left)

    async def open_plugged(
        self, opener: StoresOpener, ledger: LedgerStore, embedder: Embedder, stack: AsyncExitStack
    ) -> Stores:
        """Open the stores of a plug-in; `stack` closes them. What they lack is filled from the ledger.

        Other stores in the data directory are removed, because forgotten content would stay in them.
        """
        place = StoresPlace(
            self.folder.stores_path,
            embedder.dim,
            self.options.vector_cache_bytes,
            await ledger.stats.find_last_chunk_id(),
            bool(await ledger.settings.get("reindexing")),
        )
        stores: Stores = await stack.enter_async_context(opener(place))
        await check_given_stores(ledger, stores, embedder)
        self.folder.remove_projections(keep=(self.folder.stores_path,))
        return stores

    async def open_read_only(
        self, ledger: LedgerStore, dim: int, former: Embedder | None, stack: AsyncExitStack
    ) -> Stores:
        """The stores when nothing can be written: the vectors as they are, and a graph that is read from the ledger.

        The graph database would have to replay its log into its file.
        """
        graph = ReadOnlyGraph(await ledger.stats.list_nodes(), await ledger.stats.list_edges())
        places = await ledger.embedders.load_places()
        present = await self._open_place(places.present, dim)
        vectors, left = await add_former(ledger, present, self._open_place, former, stack)
        stack.push_async_callback(vectors.close)
        return Stores(graph, vectors, left)

    async def _open_vectors(
        self, ledger: LedgerStore, dim: int, former: Embedder | None, stack: AsyncExitStack
    ) -> tuple[VectorStore, FormerVectors | None]:
        """The vector store of the data directory, with the former one beside it; files of others are removed."""
        places = await load_places(ledger)
        kept = {self.folder.find_vectors(place) for place in (places.present, places.former) if place is not None}
        for path in self.folder.vectors_paths:
            if path not in kept:
                await asyncio.to_thread(remove_tree, path)
        present = await self._open_present(ledger, places.present, dim)
        return await add_former(ledger, present, self._open_place, former, stack)

    async def _open_present(self, ledger: LedgerStore, place: int, dim: int) -> LanceVectors:
        """The present vector store; one that is damaged or marked for reindexing is erased first.

        Raises CorruptLedger if the ledger is older than the vectors, unless the options allow a reindex.
        """
        from engine.storage.vectors.lance import LanceVectors  # noqa: PLC0415 - importing it takes a second

        if not await ledger.settings.get("reindexing"):
            try:
                return await self._open_checked(ledger, place, dim)
            except CorruptProjection as error:
                log.warning("vectors.recreated", error=str(error))
                await ledger.settings.set("reindexing", 1)
        await LanceVectors.erase(self.folder.find_vectors(place))
        return await self._open_place(place, dim)

    async def _open_checked(self, ledger: LedgerStore, place: int, dim: int) -> LanceVectors:
        vectors = await self._open_place(place, dim)
        try:
            if not self.options.replace_embedder:
                await _check_ledger_age(vectors, ledger, self.folder)
        except EngineError:
            await vectors.close()
            raise
        return vectors

    async def _open_place(self, place: int, dim: int) -> LanceVectors:
        from engine.storage.vectors.lance import LanceVectors  # noqa: PLC0415 - importing it takes a second

        path, cache_bytes = self.folder.find_vectors(place), self.options.vector_cache_bytes
        return await LanceVectors.open(path, dim, self.supervisor, cache_bytes)


async def refill_after_given_stores(ledger: LedgerStore) -> None:
    """Have graph and vectors filled again if the last run used stores given by its caller."""
    if await ledger.settings.get(OTHER_STORES_USED):
        await ledger.settings.set("graph", GRAPH_UNFILLED)
        await ledger.settings.set("reindexing", 1)
        await ledger.settings.set(OTHER_STORES_USED, "")


def _import_libraries() -> None:
    """Import the libraries of both stores, which takes a second, outside the event loop."""
    import engine.storage.graph.kuzu  # noqa: PLC0415 - see above
    import engine.storage.vectors.lance  # noqa: F401, PLC0415 - see above


async def check_given_stores(ledger: LedgerStore, stores: Stores, embedder: Embedder) -> None:
    """Request that both stores are filled again if one lacks the newest content that was written to it."""
    await ledger.settings.set(OTHER_STORES_USED, 1)
    sample = await ledger.stats.load_sample(embedder_identity(embedder), SAMPLE_SIZE)
    found = await stores.vectors.fetch("chunks", list(sample.chunk_vectors))
    has_vectors = all(
        id_ in found
        and is_same_vector(found[id_], np.frombuffer(data, np.float32).reshape(-1, embedder.dim), MIN_SAME_SIMILARITY)
        for id_, data in sample.chunk_vectors.items()
    )
    ends = {id_ for edge in sample.edges for id_ in (edge.source, edge.target)}
    edges = await stores.graph.neighbors(ends, sample.spaces, sample.edge_count)
    missing = {(edge.id, edge.source, edge.target) for edge in sample.edges} - {
        (edge.id, edge.source, edge.target) for edge in edges
    }
    if missing or not has_vectors:
        log.warning("projection.refilled", vectors_match=has_vectors, missing_edges=len(missing))
        await ledger.settings.set("reindexing", 1)


async def _check_ledger_age(vectors: LanceVectors, ledger: LedgerStore, folder: DataDir) -> None:
    """Raise CorruptLedger if there are vectors of chunks that the ledger has never had."""
    if await vectors.has_ids_above("chunks", await ledger.stats.find_last_chunk_id()):
        raise CorruptLedger(
            f"The ledger {folder.ledger_path} lacks the latest changes; its log is lost.", hint=LEDGER_BEHIND_HINT
        )


async def open_graph(folder: DataDir, options: EngineOptions, ledger: LedgerStore) -> GraphStore:
    """The graph of the data directory, filled from the ledger if it is new, damaged or lost.

    Its library silently creates an empty graph if there is no file.
    """
    from engine.storage.graph.kuzu import EDGE_BYTES, KuzuGraph  # noqa: PLC0415 - importing it takes a while

    module, cached_edges = options.graph_backend, options.graph_cache_bytes // EDGE_BYTES
    path = folder.graph_path(module)
    former = await ledger.settings.get("graph")
    fresh = former != module or not path.exists()
    if fresh and former:
        await ledger.settings.set("graph", GRAPH_UNFILLED)
    try:
        graph = await KuzuGraph.open(path, module, cached_edges=cached_edges)
    except CorruptProjection as error:
        log.warning("graph.recreated", error=str(error))
        await ledger.settings.set("graph", GRAPH_UNFILLED)
        await KuzuGraph.erase(path)
        graph, fresh = await KuzuGraph.open(path, module, cached_edges=cached_edges), True
    fresh = fresh or await graph.has_missing(*await ledger.stats.list_last_graphed())
    if fresh and former:
        await graph.replace_all(await ledger.stats.list_nodes(), await ledger.stats.list_edges())
        await ledger.work.record_all_graphed()
    if fresh:
        await ledger.settings.set("graph", module)
    return graph
