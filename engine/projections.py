"""Opening the two projections; what is missing, foreign or damaged is made anew from the ledger."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import structlog

from engine.errors import BrokenProjection, OtherEmbedder
from engine.ledger import census, work

if TYPE_CHECKING:
    from typing import Literal

    from engine.folder import Folder
    from engine.graph import Graph
    from engine.language import Embedder
    from engine.ledger import Ledger
    from engine.options import Options
    from engine.vectors import Vectors

log = structlog.get_logger(__name__)


async def check_embedder(ledger: Ledger, embedder: Embedder, options: Options) -> bool:
    """Hold the embedder against the one that made the folder's vectors; True: they must be made anew.

    OtherEmbedder, naming both, unless the options allow replacing it.
    """
    name = f"{embedder.name} ({embedder.dim} dimensions)"
    former = await ledger.read(work.setting, "embedder")
    if former == name:
        return False
    if former and not options.replace_embedder:
        raise OtherEmbedder(f"The vectors of this folder were made by {former}, not by {name}.")
    await ledger.write(work.set_setting, "embedder", name)
    if former:
        await ledger.write(work.set_setting, "rebuilding", 1)
    return bool(former)


async def open_vectors(folder: Folder, dim: int, *, anew: bool) -> Vectors:
    """The vector store of the folder; `anew` throws the former one away."""
    from engine.lance_vectors import LanceVectors  # noqa: PLC0415 - importing it takes a second

    if anew:
        await asyncio.to_thread(shutil.rmtree, folder.vectors, ignore_errors=True)
    return await LanceVectors.open(folder.vectors, dim)


async def open_graph(folder: Folder, module: Literal["kuzu", "ladybug"], ledger: Ledger) -> Graph:
    """The graph of the folder, filled from the ledger if another module wrote it last or its files are damaged."""
    from engine.kuzu_graph import KuzuGraph  # noqa: PLC0415 - importing it takes a while

    path = folder.graph(module)
    former = await ledger.read(work.setting, "graph")
    fresh = former != module or not path.exists()
    try:
        graph = await KuzuGraph.open(path, module)
    except BrokenProjection as error:
        log.warning("the graph is made anew", error=str(error))
        await asyncio.to_thread(shutil.rmtree, path)
        graph, fresh = await KuzuGraph.open(path, module), True
    if fresh and former:
        await graph.load(await ledger.read(census.nodes), await ledger.read(census.edges))
        await ledger.write(work.all_graphed)
    await ledger.write(work.set_setting, "graph", module)
    return graph

