from __future__ import annotations

import numpy as np
import pytest

from engine.text.similarity import SimilarityScale, best_similarity, unit_vectors


def similarity(one: list[float], other: list[float]) -> float:
    return best_similarity(unit_vectors(np.array([one]))[0], unit_vectors(np.array([other])))


def test_cosine_does_not_depend_on_length() -> None:
    others = [[5.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0], [2e30, 0.0]]
    assert [similarity([2.0, 0.0], other) for other in others] == pytest.approx([1.0, 0.0, -1.0, 0.5**0.5, 1.0])


def test_the_best_part_counts() -> None:
    assert best_similarity(np.array([0.0, 1.0]), np.array([[1.0, 0.0], [0.6, 0.8]])) == pytest.approx(0.8)


@pytest.mark.parametrize("unrelated", [0.0, 0.04, 0.75])
def test_unrelated_texts_have_a_similarity_of_zero_and_equal_ones_of_one(unrelated: float) -> None:
    scale = SimilarityScale(unrelated)
    assert [scale.similarity(unrelated), scale.similarity(1.0)] == pytest.approx([0.0, 1.0])
    assert scale.similarities(np.array([[unrelated, 1.0]])).tolist() == [pytest.approx([0.0, 1.0])]


def test_small_differences_do_not_become_large() -> None:
    assert SimilarityScale(0.999).similarity(0.9995) == pytest.approx(0.01)


@pytest.mark.parametrize("odd", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [-np.inf, 0.0]])
def test_v2_cosine_with_zero_nan_or_infinity_is_zero(odd: list[float]) -> None:
    assert similarity(odd, [1.0, 0.0]) == similarity([1.0, 0.0], odd) == similarity(odd, odd) == 0.0


def test_vectors_of_any_length_become_unit_vectors_and_stay_unchanged_themselves() -> None:
    original = np.array([[3.0, 4.0], [np.nan, 1.0], [1e-30, 0.0], [1e30, 0.0]], dtype=np.float32)
    assert unit_vectors(original).tolist() == [pytest.approx([0.6, 0.8]), [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    assert original[0].tolist() == [3.0, 4.0]
