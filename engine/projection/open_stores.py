"""Opening the two projections; what is missing, foreign or damaged is made anew from the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from engine.errors import CorruptLedger, CorruptProjection, EmbedderMismatch
from engine.llm.checked_embedder import embedder_identity

if TYPE_CHECKING:
    from contextlib import AsyncExitStack
    from typing import Literal

    from engine.data_dir import DataDir
    from engine.llm.base import Embedder
    from engine.options import EngineOptions
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.graph.base import GraphStore
    from engine.storage.ledger import Ledger
    from engine.storage.vectors.base import VectorStore
    from engine.storage.vectors.lance import LanceVectors

log = structlog.get_logger(__name__)

LEDGER_BEHIND_HINT = (
    "Restore a backup with `threadlore restore FILE --force`, or go on with what is left: `threadlore reindex` makes"
    " graph and vectors anew from that."
)
GRAPH_UNFILLED = "unfilled"  # a graph that a crash left half made must not be taken for one that is filled


@dataclass(frozen=True, slots=True)
class Stores:
    """A graph and a vector store, to be used instead of those in the data folder; their owner closes them."""

    graph: GraphStore
    vectors: VectorStore


async def open_stores(
    folder: DataDir, ledger: Ledger, dim: int, options: EngineOptions, stack: AsyncExitStack, supervisor: Supervisor
) -> Stores:
    """Open the folder's own graph and vector store; `stack` closes them."""
    vectors = await open_vectors(folder, ledger, dim, options, supervisor)
    stack.push_async_callback(vectors.close)
    graph = await open_graph(folder, options.graph_backend, ledger)
    stack.push_async_callback(graph.close)
    return Stores(graph, vectors)


async def check_embedder(ledger: Ledger, embedder: Embedder, options: EngineOptions, *, lost: bool) -> None:
    """Compare the embedder with the one that made the vectors, and record whether they must be made again.

    `lost`: there are no vectors. Raises EmbedderMismatch, naming both, unless the options allow replacing it.
    """
    name = embedder_identity(embedder)
    former = await ledger.work.get_setting("embedder")
    if former not in {"", name} and not options.replace_embedder:
        raise EmbedderMismatch(f"The vectors of this folder were made by {former}, not by {name}.")
    if former != name or (former and lost):
        await ledger.work.set_embedder(name, rebuild=bool(former))


async def open_vectors(
    folder: DataDir, ledger: Ledger, dim: int, options: EngineOptions, supervisor: Supervisor | None = None
) -> VectorStore:
    """The vector store of the folder; one that is damaged, or was to be made anew, is thrown away.

    Raises CorruptLedger if the ledger lacks what the vectors were made of, unless the options let all be made anew.
    """
    from engine.storage.vectors.lance import LanceVectors  # noqa: PLC0415 - importing it takes a second

    if not await ledger.work.get_setting("rebuilding"):
        try:
            vectors = await LanceVectors.open(folder.vectors_path, dim, supervisor)
        except CorruptProjection as error:
            log.warning("vectors_made_anew", error=str(error))
            await ledger.work.set_setting("rebuilding", 1)
        else:
            if not options.replace_embedder:
                await _check_ledger_age(vectors, ledger)
            return vectors
    await LanceVectors.erase(folder.vectors_path)
    return await LanceVectors.open(folder.vectors_path, dim, supervisor)


async def _check_ledger_age(vectors: LanceVectors, ledger: Ledger) -> None:
    """Raise CorruptLedger if there are vectors of chunks that the ledger has never had: they are made after it."""
    if vectors.max_id("chunks") > await ledger.stats.find_last_chunk_id():
        await vectors.close()
        raise CorruptLedger(
            f"The ledger {ledger.path} lacks what was written last; its log is lost.", hint=LEDGER_BEHIND_HINT
        )


async def open_graph(folder: DataDir, module: Literal["kuzu", "ladybug"], ledger: Ledger) -> GraphStore:
    """The graph of the folder, filled from the ledger if another module wrote it last or its files are damaged or lost.

    A library that finds no file makes an empty graph without a word.
    """
    from engine.storage.graph.kuzu import KuzuGraph  # noqa: PLC0415 - importing it takes a while

    path = folder.graph_path(module)
    former = await ledger.work.get_setting("graph")
    fresh = former != module or not path.exists()
    if fresh and former:
        await ledger.work.set_setting("graph", GRAPH_UNFILLED)
    try:
        graph = await KuzuGraph.open(path, module)
    except CorruptProjection as error:
        log.warning("graph_made_anew", error=str(error))
        await ledger.work.set_setting("graph", GRAPH_UNFILLED)
        await KuzuGraph.erase(path)
        graph, fresh = await KuzuGraph.open(path, module), True
    fresh = fresh or await graph.has_missing(*await ledger.stats.list_last_graphed())
    if fresh and former:
        await graph.replace_all(await ledger.stats.list_nodes(), await ledger.stats.list_edges())
        await ledger.profiles.record_all_graphed()
    if fresh:
        await ledger.work.set_setting("graph", module)
    return graph
