from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.options import RankingOptions
from engine.retrieval.ranking.row_choice import relation_score

RANKING = RankingOptions()


@given(st.floats(-1, 1), st.integers(0, 10**6), st.floats(0, 1e6))
def test_similarity_outweighs_all_hubs(similarity: float, degree: int, weight: float) -> None:
    score = relation_score(similarity, degree, weight, RANKING)
    assert score < relation_score(similarity + 0.25, 0, 0.0, RANKING) + 1e-12
    assert score <= relation_score(similarity, degree + 1, weight + 1, RANKING)
