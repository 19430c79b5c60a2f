"""The graphs that the package carries are those that `scripts/build_model.py` builds from the installed weights."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.errors import EngineError
from engine.llm.checked_embedder import UNRELATED_TEXTS
from engine.llm.e5.embedder import BLOCK_GRAPH, INTEGER_GRAPH, load_language_axes
from engine.llm.e5.weights import WEIGHTS_PACKAGE, find_weights
from engine.llm.minilm import embedder, weights
from engine.llm.minilm.graphs import (
    EXACT_GRAPH,
    FAST_GRAPH,
    WORD_TABLE,
    compute_check_vectors,
    draw_check_rows,
    is_precise,
    load_check_rows,
    load_check_vectors,
    mean_cosine,
    open_session,
    random_rows,
    run_rows,
    share_array,
)
from engine.llm.minilm.weights import WEIGHTS_FILE, WeightsFile, check_weights, find_weights_dir
from scripts.build_model import LANGUAGE_AXIS_COUNT, PARALLEL_SENTENCES, measure_language_axes
from scripts.minilm.e5_graphs import BlockGraphBuilder, ColumnGraphBuilder, build_e5_model, open_blocks
from scripts.minilm.onnx_graph import GraphBuilder, build_onnx_model
from scripts.minilm.quantization import THREADS, build_fast_model


@pytest.fixture(scope="module")
def installed() -> WeightsFile:
    return WeightsFile.open(find_weights_dir() / WEIGHTS_FILE)


def test_the_exact_graph_is_the_one_that_is_built_and_has_no_weights_of_its_own(installed: WeightsFile) -> None:
    assert EXACT_GRAPH.read_bytes() == build_onnx_model(GraphBuilder(installed))
    assert EXACT_GRAPH.stat().st_size < 50_000


def test_the_graphs_of_the_multilingual_embedder_are_those_that_are_built(installed: WeightsFile) -> None:
    assert BLOCK_GRAPH.read_bytes() == build_e5_model(BlockGraphBuilder(installed))
    assert INTEGER_GRAPH.read_bytes() == build_e5_model(ColumnGraphBuilder(installed))
    assert INTEGER_GRAPH.stat().st_size < 100_000


@pytest.mark.long
@pytest.mark.skipif(find_spec(WEIGHTS_PACKAGE) is None, reason="the extra multilingual is not installed")
def test_the_directions_of_languages_are_those_that_are_measured() -> None:
    """Up to the rounding of the model, which depends on the processor."""
    measured = measure_language_axes(open_blocks(find_weights())).astype(np.float32)
    shared = np.linalg.svd(measured @ load_language_axes().T, compute_uv=False)
    assert shared == pytest.approx(np.ones(LANGUAGE_AXIS_COUNT), abs=1e-3)


def test_parallel_sentences_are_as_many_in_each_language_and_those_by_which_embedders_are_measured() -> None:
    sentences = json.loads(PARALLEL_SENTENCES.read_text(encoding="utf-8"))
    assert tuple(sentences["en"]) == UNRELATED_TEXTS
    assert {len(each) for each in sentences.values()} == {len(UNRELATED_TEXTS)}


def test_the_graphs_refer_to_every_tensor_where_the_file_has_it(installed: WeightsFile) -> None:
    for path in (EXACT_GRAPH, FAST_GRAPH):
        model = onnx.load(path, load_external_data=False)
        outside = [each for each in model.graph.initializer if each.data_location == onnx.TensorProto.EXTERNAL]
        assert WORD_TABLE in {each.name for each in outside}
        for tensor in outside:
            entries = {each.key: each.value for each in tensor.external_data}
            place = installed.places[tensor.name]
            assert entries == {"location": WEIGHTS_FILE, "offset": str(place.offset), "length": str(place.length)}
            assert tuple(tensor.dims) == place.shape


@pytest.mark.long
def test_the_graph_with_integers_is_the_one_that_is_built(installed: WeightsFile) -> None:
    """Up to the rounding of single weights, which depends on the processor."""
    folder, words = installed.path.parent, share_array(installed.read(WORD_TABLE))
    shipped, built = (
        run_rows(open_session(graph, folder, {WORD_TABLE: words}, THREADS), random_rows(20, seed=3))
        for graph in (FAST_GRAPH.read_bytes(), build_fast_model(installed))
    )
    assert mean_cosine(shipped, built) > 0.9999


def test_tensors_are_read_as_they_were_written(tmp_path: Path) -> None:
    header = (
        b'{"__metadata__": {"format": "pt"}, "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},'
        b' "table": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]}}'
    )
    table = np.array([[1, 2], [3, 4]], np.float32)
    (tmp_path / "w").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8) + table.tobytes())
    file = WeightsFile.open(tmp_path / "w")
    assert file.read("table").tolist() == table.tolist()
    assert set(file.places) == {"table"}


@pytest.mark.long
def test_damaged_weights_are_refused(installed: WeightsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_weights(installed.path)
    (tmp_path / WEIGHTS_FILE).write_bytes(installed.path.read_bytes()[:-1] + b"\x00")
    with pytest.raises(EngineError, match="damaged") as caught:
        check_weights(tmp_path / WEIGHTS_FILE)
    assert "threadlore setup" in caught.value.hint
    monkeypatch.setattr(weights, "WEIGHTS_CHECKSUM", 0)
    with pytest.raises(EngineError, match="another version"):
        embedder.load_minilm(installed.path.parent, 1)


class Session:
    """A graph whose vectors lean to the side."""

    def __init__(self, lean: float) -> None:
        self._vector = np.array([[1.0, lean]]) / np.hypot(1.0, lean)

    def run(self, _names: list[str], _feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [self._vector]


def test_integers_that_the_processor_computes_wrongly_are_noticed() -> None:
    exact = compute_check_vectors(Session(0.0))
    assert is_precise(exact, Session(0.01))
    assert not is_precise(exact, Session(0.5))


def test_the_check_rows_are_those_that_are_drawn() -> None:
    assert load_check_rows() == draw_check_rows()


@pytest.mark.long
def test_the_check_vectors_are_those_of_the_exact_graph(installed: WeightsFile) -> None:
    model = embedder.load_minilm(installed.path.parent, 1)  # keeps the table of word pieces
    assert np.allclose(load_check_vectors(), compute_check_vectors(model.exact), atol=1e-4)


@pytest.mark.long
def test_a_text_opens_only_the_graph_that_it_needs(installed: WeightsFile) -> None:
    model = embedder.load_minilm(installed.path.parent, 1)
    model.run(model.tokenize(["Where does the ferry to the island leave on Sundays?"]))
    assert {"fast", "exact"} & vars(model).keys() == {"fast"}
    model.run(model.tokenize(["ferry"]))
    assert {"fast", "exact"} <= vars(model).keys()


@pytest.mark.long
def test_imprecise_integers_are_not_used(installed: WeightsFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "is_precise", lambda exact, fast: False)
    model = embedder.load_minilm(installed.path.parent, 1)
    assert model.fast is model.exact
