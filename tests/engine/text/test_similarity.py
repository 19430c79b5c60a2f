from __future__ import annotations

import numpy as np
import pytest

from engine.text.similarity import cosine_similarities, unit_vectors


def test_cosine_does_not_depend_on_length() -> None:
    found = cosine_similarities(np.array([2.0, 0.0]), np.array([[5.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0]]))
    assert found == pytest.approx([1.0, 0.0, -1.0, 0.5**0.5])
    assert found.dtype == np.float32


@pytest.mark.parametrize("odd", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0]])
def test_v2_cosine_with_zero_nan_or_infinity_is_zero(odd: list[float]) -> None:
    assert cosine_similarities(np.array(odd), np.array([[1.0, 0.0], odd])).tolist() == [0.0, 0.0]
    assert cosine_similarities(np.array([1.0, 0.0]), np.array([odd])).tolist() == [0.0]


def test_directions_leave_what_they_are_given_alone() -> None:
    given = np.array([[3.0, 4.0], [np.nan, 1.0]], dtype=np.float32)
    assert unit_vectors(given).tolist() == [pytest.approx([0.6, 0.8]), [0.0, 0.0]]
    assert given[0].tolist() == [3.0, 4.0]


def test_very_short_and_very_long_vectors_have_a_direction() -> None:
    assert unit_vectors(np.array([[1e-30, 0.0], [1e30, 0.0]], dtype=np.float32)).tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_no_vectors_have_no_similarities() -> None:
    assert cosine_similarities(np.array([1.0, 0.0]), np.empty((0, 2))).shape == (0,)
