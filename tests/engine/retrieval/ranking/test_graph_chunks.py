from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.options import RankingOptions
from engine.retrieval.ranking.graph_chunks import (
    EntityNode,
    FactEdge,
    build_edges,
    build_seed_weights,
    count_chunk_visits,
    vector_candidates,
)

RANKING = RankingOptions()


def rank(
    names: Sequence[EntityNode], facts: Sequence[FactEdge], similarity: Mapping[int, float], options: RankingOptions
) -> list[int]:
    visits = count_chunk_visits(names, facts, similarity, options)
    return sorted(visits, key=lambda chunk: -visits[chunk])


def test_each_side_gives_an_equal_number_of_vector_candidates() -> None:
    assert vector_candidates(RankingOptions(max_vector_candidates=4), [[1, 2], [2, 3]], [[9]]) == [1, 2, 9]


PUBLISHED = FactEdge(("association", "journal"), 1.0, 0.8, [1])
LED = FactEdge(("association", "hall"), 1.0, 0.3, [2])
OTHER = FactEdge(("lake", "river"), 1.0, 0.1, [3])
NAMES = [
    *(EntityNode("journal", 1, [1]), EntityNode("association", 2, [1, 2])),
    *(EntityNode("hall", 1, [2]), EntityNode("lake", 1, [3])),
]


@pytest.mark.parametrize(
    ("names", "facts", "similarity", "order"),
    [
        pytest.param([], [], {5: 0.1, 6: 0.9, 7: 0.4}, [6, 7, 5], id="without facts by similarity"),
        pytest.param([], [], {}, [], id="nothing"),
        pytest.param([EntityNode("a", 1, [4, 3])], [], {}, [4, 3], id="without a seed unchanged"),
        pytest.param(
            [EntityNode("a", 2, [2, 1])], [FactEdge(("a", "b"), 1.0, 0.5, [])], {}, [2, 1], id="ties in order"
        ),
    ],
)
def test_chunks_are_ranked_by_pagerank(
    names: list[EntityNode], facts: list[FactEdge], similarity: dict[int, float], order: list[int]
) -> None:
    assert rank(names, facts, similarity, RANKING) == order


def test_a_chunk_two_steps_away_comes_before_an_unconnected_one() -> None:
    many = [FactEdge((f"a{n}", f"b{n}"), 1.0, 0.5, [10 + n]) for n in range(RANKING.max_seed_facts - 1)]
    order = rank(NAMES, [PUBLISHED, LED, OTHER, *many], {}, RANKING)
    assert order.index(1) < order.index(2) < order.index(3)


def test_the_chunk_that_states_the_best_fact_comes_first_and_similar_ones_are_added() -> None:
    order = rank(NAMES, [OTHER, LED, PUBLISHED], {99: 0.2}, RANKING)
    assert (order[0], set(order)) == (1, {1, 2, 3, 99})


MANY_FACTS = [FactEdge((f"a{number}", f"b{number}"), 1.0, 1.0 - number / 20, []) for number in range(12)]
UNLIKE_FACTS = [FactEdge(("a", "b"), 1.0, 0.0, [1]), FactEdge(("c", "d"), 1.0, -0.2, [1])]


def test_only_the_best_facts_are_seeds() -> None:
    best = {f"{side}{number}" for side in "ab" for number in range(RANKING.max_seed_facts)}
    assert set(build_seed_weights([], MANY_FACTS, {}, RANKING)) == best
    assert build_seed_weights([], UNLIKE_FACTS, {}, RANKING) == {}


def test_a_seed_weighs_less_the_more_often_its_name_is_mentioned() -> None:
    names = [EntityNode("hub", 100, []), EntityNode("rare", 2, [])]
    weights = build_seed_weights(names, [FactEdge(("hub", "rare"), 1.0, 0.6, [])], {}, RANKING)
    assert weights == {"hub": pytest.approx(0.006), "rare": pytest.approx(0.3)}


def test_similarities_of_chunks_are_stretched_between_zero_and_their_share() -> None:
    share = RANKING.chunk_seed_weight
    weights = build_seed_weights([], [], {1: 0.2, 2: 0.6, 3: 0.4}, RANKING)
    assert weights == {1: 0.0, 2: share, 3: pytest.approx(share / 2)}


def test_a_name_and_a_chunk_have_one_edge_however_many_facts_connect_them() -> None:
    facts = [FactEdge(("a", "b"), 3.0, 0.5, [1]), FactEdge(("a", "c"), 1.0, 0.5, [1])]
    edges = build_edges([EntityNode("a", 1, [1])], facts)
    assert edges == {("a", 1): 1.0, ("a", "b"): 3.0, ("b", 1): 1.0, ("a", "c"): 1.0, ("c", 1): 1.0}


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_changes_no_count(seed: int) -> None:
    """Rows come in the order of ids, which differ in stores of equal content; sums then differ in their last digits."""
    draw = Random(seed)
    names = [EntityNode(name, draw.randint(1, 9), draw.sample(range(1, 9), draw.randint(1, 5))) for name in "abcdef"]
    ends = draw.sample([(one, other) for one in "abc" for other in "def"], RANKING.max_seed_facts)
    facts = [FactEdge(end, draw.choice([0.7, 1.0, 3.0]), 0.1, draw.sample(range(1, 9), 2)) for end in ends]
    similarity = {chunk: draw.choice([0.1, 0.2, 0.3]) for chunk in range(1, 9)}
    turned = dict(reversed(similarity.items()))
    counts = count_chunk_visits(names, facts, similarity, RANKING)
    assert counts == count_chunk_visits(names[::-1], facts[::-1], turned, RANKING)


CHUNKS = st.integers(1, 20)
NODES = st.builds(EntityNode, st.sampled_from("abcdef"), st.integers(1, 9), st.lists(CHUNKS, max_size=4))
PAIRS = st.tuples(st.sampled_from("abc"), st.sampled_from("def"))
FACTS = st.builds(FactEdge, PAIRS, st.sampled_from([1.0, 5.0]), st.floats(-1, 1), CHUNKS.map(lambda chunk: [chunk]))


@given(st.lists(NODES), st.lists(FACTS), st.dictionaries(st.integers(1, 30), st.floats(-1, 1)))
def test_every_chunk_is_ranked_once(
    names: list[EntityNode], facts: list[FactEdge], similarity: dict[int, float]
) -> None:
    items: list[Any] = [*names, *facts]
    expected = {chunk for item in items for chunk in item.chunks} | set(similarity)
    assert sorted(rank(names, facts, similarity, RANKING)) == sorted(expected)
