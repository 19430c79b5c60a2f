"""Sketches of vectors: what they tell of cosines, whatever the vectors are."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

from engine.storage.vector_sketch import BitSketch, SketchedQuery

DIM = 384


def scale_rows(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def draw_dense(count: int, dim: int = DIM) -> np.ndarray:
    return scale_rows(np.random.default_rng(1).standard_normal((count, dim)))


def draw_sparse(count: int) -> np.ndarray:
    """Bags of twelve hashed words."""
    chance, vectors = np.random.default_rng(2), np.zeros((count, DIM))
    np.add.at(vectors, (np.arange(count)[:, None], chance.integers(0, 60, (count, 12))), 1.0)
    return scale_rows(vectors)


def draw_alike(count: int) -> np.ndarray:
    """Vectors with a common direction, as some embedders make them."""
    return scale_rows(draw_dense(count) + np.float32(1.5) * draw_dense(1))


def read_words(sketch: BitSketch, vectors: np.ndarray) -> list[np.ndarray]:
    columns = sketch.encode(vectors)
    assert {name: column.dtype for name, column in columns.items()} == sketch.types
    return [columns[name] for name in sketch.names]


def count_differences(query: SketchedQuery, words: list[np.ndarray]) -> np.ndarray:
    found = np.empty(len(words[0]), np.uint16)
    query.count_differences(words, found)
    return found


@pytest.mark.parametrize("dim", [1, 4, 63, 64, 65, 384, 1_000])
def test_a_vector_has_the_same_sketch_wherever_it_stands(dim: int) -> None:
    vectors, sketch = draw_dense(700, dim), BitSketch(dim)
    words = np.stack(read_words(sketch, vectors))
    order = np.random.default_rng(3).permutation(700)
    assert (np.stack(read_words(sketch, vectors[order])) == words[:, order]).all()
    assert (np.stack(read_words(sketch, vectors[5:6])) == words[:, 5:6]).all()
    assert len(words) == -(-dim // 64)
    bits = np.unpackbits(np.ascontiguousarray(words.T).view(np.uint8), axis=1)
    assert not bits[:, dim:].any()
    for at in (0, 699):
        query = sketch.prepare(vectors[at])
        assert int(np.argmin(count_differences(query, list(words)))) <= at
        assert count_differences(query, list(words))[at] == 0


def test_no_rows_and_vectors_without_a_direction_have_sketches() -> None:
    sketch = BitSketch(DIM)
    assert [len(words) for words in read_words(sketch, np.empty((0, DIM), np.float32))] == [0] * 6
    assert not np.stack(read_words(sketch, np.zeros((3, DIM), np.float32))).any()


@pytest.mark.parametrize("vectors", [draw_dense(4_000), draw_sparse(4_000), draw_alike(4_000)])
def test_errors_are_as_those_of_chance(vectors: np.ndarray) -> None:
    sketch = BitSketch(DIM)
    words = read_words(sketch, vectors)
    differences, estimates = list[np.ndarray](), list[np.ndarray]()
    for query in vectors[:50]:
        prepared, cosines = sketch.prepare(query), np.clip(vectors @ query, -1.0, 1.0)
        shares = np.arccos(cosines) / pi
        is_other = cosines < 0.99
        errors = count_differences(prepared, words) - DIM * shares
        differences.append((errors / np.sqrt(DIM * shares * (1 - shares)).clip(1.0))[is_other])
        deviations = sqrt((pi / 2 - 1) / DIM) * np.sqrt(1 - cosines**2)
        estimates.append(((prepared.estimate(words) - cosines) / deviations.clip(1e-3))[is_other])
    for found in (np.concatenate(differences), np.concatenate(estimates)):
        assert -0.25 < found.mean() < 0.7  # rather too similar, which leaves no row out
        assert 0.6 < found.std() < 1.25


@pytest.mark.parametrize("vectors", [draw_dense(4_000), draw_sparse(4_000), draw_alike(4_000)])
def test_nearly_all_rows_are_within_their_bounds(vectors: np.ndarray) -> None:
    sketch = BitSketch(DIM)
    words = read_words(sketch, vectors)
    near, surely = list[bool](), list[bool]()
    for query in vectors[:50]:
        prepared, cosines = sketch.prepare(query), vectors @ query
        differences, estimates = count_differences(prepared, words), prepared.estimate(words)
        for at in np.argsort(-cosines)[1:60:6]:  # a row that just reaches a cosine
            near.append(differences[at] <= prepared.most_differences(float(cosines[at])))
            surely.append(estimates[at] >= prepared.least_estimate(float(cosines[at])))
    assert np.mean(near) > 0.93
    assert np.mean(surely) > 0.97


def test_bounds_stay_within_what_is_possible() -> None:
    query = BitSketch(DIM).prepare(draw_dense(1)[0])
    bounds = [query.most_differences(cosine) for cosine in np.linspace(-1.01, 1.01, 500)]
    assert max(bounds) == DIM
    assert min(bounds) == 0
    assert query.least_estimate(1.000001) == pytest.approx(1.0)
