"""Build what the package carries of the built-in embedders: three ONNX graphs, and check vectors of one.

`python -m scripts.build_model` writes them.

Needed only after a change to scripts/minilm or another version of the weights; it takes 10 seconds. The graph with
integers depends a little on the processor that rounds its weights.
"""

from __future__ import annotations

import numpy as np

from engine.llm.e5.embedder import GRAPH as BLOCK_GRAPH
from engine.llm.minilm.graphs import (
    CHECK_VECTORS,
    EXACT_GRAPH,
    FAST_GRAPH,
    compute_check_vectors,
    is_precise,
    open_session,
    share_array,
)
from engine.llm.minilm.graphs import WORD_TABLE as WORDS
from engine.llm.minilm.weights import WEIGHTS_FILE, WeightsFile, check_weights, find_weights_dir
from scripts.minilm.block_graph import BlockGraphBuilder, build_block_model
from scripts.minilm.onnx_graph import GraphBuilder, build_onnx_model
from scripts.minilm.quantization import THREADS, build_fast_model


def main() -> None:
    folder = find_weights_dir()
    check_weights(folder / WEIGHTS_FILE)
    weights = WeightsFile.open(folder / WEIGHTS_FILE)
    graphs = {EXACT_GRAPH: build_onnx_model(GraphBuilder(weights)), FAST_GRAPH: build_fast_model(weights)}
    words = share_array(weights.read(WORDS))
    exact, fast = (open_session(graph, folder, {WORDS: words}, THREADS) for graph in graphs.values())
    vectors = compute_check_vectors(exact)
    if not is_precise(vectors, fast):
        raise SystemExit("This processor does not compute the graph with integers precisely; nothing was written.")
    for path, graph in graphs.items():
        path.write_bytes(graph)
        print(f"{path}: {len(graph):,} bytes")
    np.save(CHECK_VECTORS, vectors)
    BLOCK_GRAPH.write_bytes(build_block_model(BlockGraphBuilder(weights)))


if __name__ == "__main__":
    main()
