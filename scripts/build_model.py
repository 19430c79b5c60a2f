"""Build the two ONNX graphs of the built-in embedder that the package carries: `python -m scripts.build_model`.

Needed only after a change to scripts/minilm or another version of the weights; it takes 10 seconds. The graph with
integers depends a little on the processor that rounds its weights.
"""

from __future__ import annotations

from engine.llm.minilm.graphs import EXACT_GRAPH, FAST_GRAPH, is_precise, open_session, share_word_table
from engine.llm.minilm.graphs import WORD_TABLE as WORDS
from engine.llm.minilm.weights import WEIGHTS_FILE, WeightsFile, check_weights, find_weights_dir
from scripts.minilm.onnx_graph import GraphBuilder, build_onnx_model
from scripts.minilm.quantization import THREADS, build_fast_model


def main() -> None:
    folder = find_weights_dir()
    check_weights(folder / WEIGHTS_FILE)
    weights = WeightsFile.open(folder / WEIGHTS_FILE)
    graphs = {EXACT_GRAPH: build_onnx_model(GraphBuilder(weights)), FAST_GRAPH: build_fast_model(weights)}
    words = share_word_table(weights.read(WORDS))
    exact, fast = (open_session(graph, folder, words, THREADS) for graph in graphs.values())
    if not is_precise(exact, fast):
        raise SystemExit("This processor does not compute the graph with integers precisely; nothing was written.")
    for path, graph in graphs.items():
        path.write_bytes(graph)
        print(f"{path}: {len(graph):,} bytes")


if __name__ == "__main__":
    main()
