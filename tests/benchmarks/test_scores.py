from __future__ import annotations

import pytest

from benchmarks.quality.scores import has_all, ndcg_at, paired_interval, recall_at


def test_recall_and_gain_count_the_gold_keys_among_the_first() -> None:
    ranking, gold = ["x", "a", "y", "b"], {"a", "b"}
    assert (recall_at(ranking, gold, 2), recall_at(ranking, gold, 4)) == (50.0, 100.0)
    assert (has_all(ranking, gold, 3), has_all(ranking, gold, 4)) == (0.0, 100.0)
    assert ndcg_at(["a", "b"], gold, 2) == 100.0
    assert ndcg_at(ranking, gold, 4) == pytest.approx(65.09, abs=0.01)


def test_an_interval_holds_zero_unless_the_difference_is_beyond_chance() -> None:
    mean, low, high = paired_interval([10.0] * 20, [0.0] * 20)
    assert (mean, low, high) == (10.0, 10.0, 10.0)
    mean, low, high = paired_interval([10.0, 0.0] * 10, [0.0, 10.0] * 10)
    assert low < mean == 0.0 < high
