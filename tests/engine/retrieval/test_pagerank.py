from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.pagerank import (
    CHUNK_SEED_WEIGHT,
    MAX_SEED_FACTS,
    EntityNode,
    FactEdge,
    GraphNode,
    build_edges,
    build_seed_weights,
    personalized_pagerank,
    rank_by_pagerank,
)

PUBLISHED = FactEdge(("association", "journal"), 1.0, 0.8, [1])
LED = FactEdge(("association", "hall"), 1.0, 0.3, [2])
OTHER = FactEdge(("lake", "river"), 1.0, 0.1, [3])
NAMES = [
    EntityNode("journal", 1, [1]),
    EntityNode("association", 2, [1, 2]),
    EntityNode("hall", 1, [2]),
    EntityNode("lake", 1, [3]),
]


def test_a_chunk_two_steps_away_comes_before_one_that_is_not_joined() -> None:
    many = [FactEdge((f"a{number}", f"b{number}"), 1.0, 0.5, [10 + number]) for number in range(MAX_SEED_FACTS - 1)]
    order = rank_by_pagerank(NAMES, [PUBLISHED, LED, OTHER, *many], {})
    assert order.index(1) < order.index(2) < order.index(3)


def test_the_chunk_that_states_the_best_fact_comes_first() -> None:
    assert rank_by_pagerank(NAMES, [OTHER, LED, PUBLISHED], {})[0] == 1


def test_without_facts_the_order_is_that_of_similarity() -> None:
    assert rank_by_pagerank([], [], {5: 0.1, 6: 0.9, 7: 0.4}) == [6, 7, 5]


def test_without_anything_there_is_nothing() -> None:
    assert rank_by_pagerank([], [], {}) == []


def test_without_a_start_the_order_stays() -> None:
    assert rank_by_pagerank([EntityNode("a", 1, [4, 3])], [], {}) == [4, 3]


def test_chunks_only_found_by_similarity_are_there_too() -> None:
    assert set(rank_by_pagerank(NAMES, [PUBLISHED], {99: 0.2})) == {1, 2, 3, 99}


def test_only_the_best_facts_are_starts() -> None:
    facts = [FactEdge((f"a{number}", f"b{number}"), 1.0, 1.0 - number / 20, []) for number in range(12)]
    assert set(build_seed_weights([], facts, {})) == {
        f"{side}{number}" for side in "ab" for number in range(MAX_SEED_FACTS)
    }


def test_facts_unlike_the_question_are_no_start() -> None:
    assert build_seed_weights([], [FactEdge(("a", "b"), 1.0, 0.0, [1]), FactEdge(("c", "d"), 1.0, -0.2, [1])], {}) == {}


def test_a_start_is_the_rarer_the_more_often_its_name_is_mentioned() -> None:
    found = build_seed_weights(
        [EntityNode("hub", 100, []), EntityNode("rare", 2, [])], [FactEdge(("hub", "rare"), 1.0, 0.6, [])], {}
    )
    assert found == {"hub": pytest.approx(0.006), "rare": pytest.approx(0.3)}


def test_similarities_of_chunks_are_stretched_between_nothing_and_their_share() -> None:
    assert build_seed_weights([], [], {1: 0.2, 2: 0.6, 3: 0.4}) == {
        1: 0.0,
        2: CHUNK_SEED_WEIGHT,
        3: pytest.approx(CHUNK_SEED_WEIGHT / 2),
    }


def test_a_name_and_a_chunk_are_joined_once_however_many_facts_join_them() -> None:
    edges = build_edges(
        [EntityNode("a", 1, [1])], [FactEdge(("a", "b"), 3.0, 0.5, [1]), FactEdge(("a", "c"), 1.0, 0.5, [1])]
    )
    assert edges == {("a", 1): 1.0, ("a", "b"): 3.0, ("b", 1): 1.0, ("a", "c"): 1.0, ("c", 1): 1.0}


def test_what_a_hub_leads_to_is_come_by_less() -> None:
    edges: dict[tuple[GraphNode, GraphNode], float] = {
        ("start", "hub"): 1.0,
        ("start", "small"): 1.0,
        ("hub", 1): 1.0,
        ("small", 2): 1.0,
    }
    reached = personalized_pagerank(edges, {"start": 1.0}, {"hub": 1000.0})
    assert reached[1] < reached[2] / 100


def test_equals_are_equal_and_keep_their_order() -> None:
    assert rank_by_pagerank([EntityNode("a", 2, [2, 1])], [FactEdge(("a", "b"), 1.0, 0.5, [])], {}) == [2, 1]


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 9), st.lists(st.integers(1, 20), max_size=4))),
    st.lists(
        st.tuples(
            st.sampled_from("abc"), st.sampled_from("def"), st.integers(1, 5), st.floats(-1, 1), st.integers(1, 20)
        )
    ),
    st.dictionaries(st.integers(1, 30), st.floats(-1, 1)),
)
def test_every_chunk_comes_once(
    names: list[tuple[str, int, list[int]]],
    facts: list[tuple[str, str, int, float, int]],
    similarity: dict[int, float],
) -> None:
    told = [EntityNode(*each) for each in names]
    said = [FactEdge((a, b), float(weight), like, [chunk]) for a, b, weight, like, chunk in facts]
    order = rank_by_pagerank(told, said, similarity)
    expected = {chunk for each in told for chunk in each.chunks} | {fact.chunks[0] for fact in said} | set(similarity)
    assert sorted(order) == sorted(expected)


@given(st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.integers(1, 9)), st.just(1.0)))
def test_no_walker_is_made_out_of_nothing(edges: dict[tuple[GraphNode, GraphNode], float]) -> None:
    reached = personalized_pagerank(edges, {"a": 2.0, 1: 1.0}, {"b": 7.0})
    assert 0 < sum(reached.values()) <= 1 + 1e-9
    assert min(reached.values()) >= 0
