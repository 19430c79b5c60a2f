"""Build what the package carries of the built-in embedders: four ONNX graphs, and arrays of numbers.

`python -m scripts.build_model` writes them. The arrays: vectors to check by, ranges of inputs, and the directions in
which languages differ.

Needed only after a change to scripts/minilm or another version of the weights; it takes 30 seconds. The graph of MiniLM
with integers depends a little on the processor that rounds its weights.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bot.i18n import TRANSLATIONS
from engine.llm.e5 import embedder as e5
from engine.llm.e5.weights import find_weights
from engine.llm.minilm.graphs import (
    CHECK_ROWS,
    CHECK_VECTORS,
    EXACT_GRAPH,
    FAST_GRAPH,
    compute_check_vectors,
    draw_check_rows,
    is_precise,
    open_session,
    share_array,
)
from engine.llm.minilm.graphs import WORD_TABLE as WORDS
from engine.llm.minilm.local_embedder import pad_rows
from engine.llm.minilm.weights import WEIGHTS_FILE, WeightsFile, check_weights, find_weights_dir
from scripts.minilm.e5_graphs import (
    BlockGraphBuilder,
    ColumnGraphBuilder,
    build_e5_model,
    measure_ranges,
    open_blocks,
)
from scripts.minilm.onnx_graph import GraphBuilder, build_onnx_model
from scripts.minilm.quantization import THREADS, build_fast_model
from tests.support.catalogs import read_catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

MEASURED_SENTENCES = 40  # of each language
MIN_SENTENCE = 15  # characters
PARALLEL_SENTENCES = Path(__file__).with_name("minilm") / "parallel_sentences.json"
LANGUAGE_AXIS_COUNT = 10


def main() -> None:
    folder = find_weights_dir()
    check_weights(folder / WEIGHTS_FILE)
    weights = WeightsFile.open(folder / WEIGHTS_FILE)
    write_minilm(weights, folder)
    write_e5(weights, find_weights())


def write_minilm(weights: WeightsFile, folder: Path) -> None:
    graphs = {EXACT_GRAPH: build_onnx_model(GraphBuilder(weights)), FAST_GRAPH: build_fast_model(weights)}
    words = share_array(weights.read(WORDS))
    exact, fast = (open_session(graph, folder, {WORDS: words}, THREADS) for graph in graphs.values())
    np.save(CHECK_ROWS, pad_rows(draw_check_rows())[0])
    vectors = compute_check_vectors(exact)
    if not is_precise(vectors, fast):
        raise SystemExit("This processor does not compute the graph with integers precisely; nothing was written.")
    for path, graph in graphs.items():
        path.write_bytes(graph)
        print(f"{path}: {len(graph):,} bytes")
    np.save(CHECK_VECTORS, vectors)


def write_e5(weights: WeightsFile, file: Path) -> None:
    e5.BLOCK_GRAPH.write_bytes(build_e5_model(BlockGraphBuilder(weights)))
    e5.INTEGER_GRAPH.write_bytes(build_e5_model(ColumnGraphBuilder(weights)))
    blocks = open_blocks(file)
    np.save(e5.CHECK_VECTORS, blocks.compute_check_vectors())
    np.save(e5.LANGUAGE_AXES, measure_language_axes(blocks))
    measured = build_e5_model(builder := BlockGraphBuilder(weights), with_linear_inputs=True)
    model = open_blocks(file, measured)
    np.save(e5.RANGES, measure_ranges(model, builder, list(list_sentences())))


def measure_language_axes(model: e5.E5Model) -> np.ndarray:
    """The directions in which languages differ, from the same sentences in each of them.

    The English ones are `UNRELATED_TEXTS`, by which the similarity scale is measured: after a change of these the
    directions are measured again, with their translations.
    """
    sentences = json.loads(PARALLEL_SENTENCES.read_text(encoding="utf-8")).values()
    rows = [model.tokenize([e5.PASSAGE_PREFIX + sentence for sentence in some]) for some in sentences]
    vectors = [np.concatenate([model.run([row]) for row in some]) for some in rows]
    return e5.find_language_axes(vectors, LANGUAGE_AXIS_COUNT).astype(np.float16)


def list_sentences() -> Iterator[str]:
    """Sentences of the bot in its languages, as questions and as stored texts in turn."""
    chance = np.random.default_rng(0)
    for language in TRANSLATIONS:
        messages = [(str(message.id), str(message.string)) for message in read_catalog(language) if message.id]
        for place, chosen in enumerate(chance.permutation(len(messages))[:MEASURED_SENTENCES]):
            for sentence in messages[chosen]:
                if len(sentence) >= MIN_SENTENCE:
                    yield (e5.PASSAGE_PREFIX if place % 2 else e5.QUERY_PREFIX) + sentence


if __name__ == "__main__":
    main()
