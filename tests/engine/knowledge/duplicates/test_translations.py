from __future__ import annotations

import pytest

from engine.knowledge.duplicates.suggestions import (
    SUGGESTION_SCORE,
    PairFeatures,
    are_in_two_scripts,
    find_script,
    score_pair,
)


@pytest.mark.parametrize(
    ("name", "script"),
    [("tokyo", "LATIN"), ("東京タワー", "CJK"), ("москва", "CYRILLIC"), ("القاهرة", "ARABIC"), ("42", "")],
)
def test_a_name_is_written_in_a_script(name: str, script: str) -> None:
    assert find_script(name) == script


def test_a_number_has_no_script() -> None:
    assert are_in_two_scripts("東京", "tokyo")
    assert not are_in_two_scripts("42", "tokyo")


@pytest.mark.parametrize(
    ("features", "is_suggested"),
    [
        pytest.param(PairFeatures("東京", "tokyo", 0.1, 3, 4, are_linked=False), True, id="two scripts"),
        pytest.param(PairFeatures("東京", "tokyo", 0.1, 3, 4), False, id="neighbors of each other"),
        pytest.param(PairFeatures("東京", "tokyo", 0.9, 1, 1, are_linked=False), False, id="one common neighbor"),
        pytest.param(PairFeatures("東京", "osaka", 0.1, 2, 9, are_linked=False), False, id="most neighbors differ"),
        pytest.param(PairFeatures("東京", "tokyo", 0.1, 4, 4, False, are_linked=False), False, id="other type"),
        pytest.param(PairFeatures("münchen", "munich", 0.6, 4, 4, True, are_linked=False), True, id="two languages"),
        pytest.param(PairFeatures("monaco di baviera", "munich", 0.5, 4, 4, are_linked=False), True, id="three words"),
        pytest.param(PairFeatures("lübeck", "munich", 0.1, 4, 4, are_linked=False), False, id="other meaning"),
        pytest.param(PairFeatures("halle 2", "ホール 3", 0.6, 4, 4, are_linked=False), False, id="other number"),
    ],
)
def test_names_with_the_same_neighbors_are_suggested(features: PairFeatures, *, is_suggested: bool) -> None:
    assert (score_pair(features) >= SUGGESTION_SCORE) is is_suggested
