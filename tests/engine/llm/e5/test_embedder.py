"""The multilingual embedder, compared with vectors that the package of its weights computes by its own code."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ModelNotInstalled
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.e5 import embedder as e5
from engine.llm.e5 import weights
from engine.llm.e5.embedder import BLOCK_GRAPH, CHECK_VECTORS, INTEGER_GRAPH, E5Embedder, E5Model, load_e5
from engine.llm.e5.weights import WEIGHTS_PACKAGE, check_weights, find_weights
from engine.usage import UsageMeter

GOLDEN = Path(__file__).with_name("golden.npy")  # of the texts as questions, then as stored texts
TEXTS = [
    "The ferry to the island leaves at seven.",
    "Die Fähre zur Insel legt um sieben Uhr ab.",
    "島へのフェリーは七時に出ます。",
    "يغادر القارب إلى الجزيرة في السابعة.",
    "Our accountant resigned in March.",
    "yes",
]
needs_weights = pytest.mark.skipif(find_spec(WEIGHTS_PACKAGE) is None, reason="the extra multilingual is not installed")


@pytest.fixture(scope="module")
def model() -> E5Model:
    """Loaded once: it takes a second."""
    return E5Embedder(threads=1).open_model()


@pytest.fixture
def embedder(model: E5Model) -> Iterator[E5Embedder]:
    opened = E5Embedder(threads=1)
    opened.model = model
    yield opened
    opened.close()


@needs_weights
async def test_vectors_are_those_of_the_model(embedder: E5Embedder) -> None:
    meter = UsageMeter()
    found = np.concatenate([await embedder.embed_queries(TEXTS, meter), await embedder.embed(TEXTS, meter)])
    golden = np.load(GOLDEN).astype(np.float32)
    axes = e5.load_language_axes()
    assert (found[: len(TEXTS)] @ axes.T) == pytest.approx(0.0, abs=1e-2)
    golden[: len(TEXTS)] = e5.remove_language(golden[: len(TEXTS)], axes)
    assert (found * golden).sum(axis=1).min() > 0.995
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-4)


@needs_weights
async def test_a_vector_hardly_depends_on_the_other_texts_of_a_call(embedder: E5Embedder) -> None:
    together = await embedder.embed(["word " * 300, *TEXTS], meter := UsageMeter())
    alone = await embedder.embed(TEXTS[:1], meter)
    assert float(together[1] @ alone[0]) > 0.999


@needs_weights
async def test_a_question_finds_its_text_in_another_language(embedder: E5Embedder) -> None:
    checked = wrap_embedder(embedder)
    scale = await checked.measure_scale(meter := UsageMeter())
    [question] = await checked.embed_queries(["Wann fährt das Schiff zur Insel?"], meter)
    similar = scale.similarities(await checked.embed(TEXTS[:5], meter) @ question)
    assert scale.unrelated > 0.6
    assert similar[:4].min() > similar[4] + 0.1


@needs_weights
@pytest.mark.parametrize(
    "question", ["Wer repariert den Kran am Hafen?", "谁修理码头的起重机?", "埠頭のクレーンは誰が修理しますか。"]
)
async def test_a_question_does_not_prefer_texts_in_its_own_language(embedder: E5Embedder, question: str) -> None:
    answer = "Ida Brandt repairs the crane at the quay."
    others = ["我们的图书馆周末不开放。", "Am Montag kommt der Elektriker.", "図書館は週末に休みです。"]
    scale = await wrap_embedder(embedder).measure_scale(meter := UsageMeter())
    [vector] = await embedder.embed_queries([question], meter)
    similar = scale.similarities(await embedder.embed([answer, *others], meter) @ vector)
    assert similar[0] > similar[1:].max() + 0.08


def test_directions_in_which_languages_differ_are_taken_from_vectors() -> None:
    subjects = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    tongues = 3 * np.eye(8, dtype=np.float32)[:3]
    axes = e5.find_language_axes([subjects + tongue for tongue in tongues], 2)
    one, other = (e5.remove_language(subjects + tongue, axes) for tongue in tongues[:2])
    assert one == pytest.approx(other, abs=1e-5)
    assert np.linalg.norm(one, axis=1) == pytest.approx(1.0, abs=1e-5)


@needs_weights
def test_integers_change_vectors_hardly(model: E5Model) -> None:
    assert (np.load(CHECK_VECTORS) * model.compute_check_vectors()).sum(axis=1).min() > 0.999


@needs_weights
def test_a_processor_that_computes_integers_badly_gets_the_graph_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Path]()

    class Session:
        """All texts have the same vector."""

        def run(self, _names: list[str], _feed: dict[str, np.ndarray]) -> list[np.ndarray]:
            return [np.load(CHECK_VECTORS)[:1]]

    def open_session(graph: Path, *_: object) -> Session:
        opened.append(graph)
        return Session()

    monkeypatch.setattr(e5, "open_session", open_session)
    load_e5(find_weights(), 1)
    assert opened == [INTEGER_GRAPH, BLOCK_GRAPH]


@needs_weights
def test_a_damaged_file_of_weights_is_named(tmp_path: Path) -> None:
    check_weights(find_weights())
    (damaged := tmp_path / "weights.bin").write_bytes(b"E5S1")
    with pytest.raises(ModelNotInstalled, match="damaged"):
        check_weights(damaged)


def test_missing_weights_are_named_with_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "no_such_package")
    with pytest.raises(ModelNotInstalled, match="multilingual") as error:
        find_weights()
    assert "threadlore setup" in error.value.hint
