from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.ranking.pagerank import GraphNode, WalkGraph, personalized_pagerank


def test_targets_of_a_hub_get_less() -> None:
    edges: dict[tuple[GraphNode, GraphNode], float]
    edges = dict.fromkeys((("start", "hub"), ("start", "small"), ("hub", 1), ("small", 2)), 1.0)
    reached = personalized_pagerank(edges, {"start": 1.0}, {"hub": 1000.0}, 0.5, 20)
    assert reached[1] < reached[2] / 100


@given(st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.integers(1, 9)), st.just(1.0)))
def test_no_weight_is_created(edges: dict[tuple[GraphNode, GraphNode], float]) -> None:
    reached = personalized_pagerank(edges, {"a": 2.0, 1: 1.0}, {"b": 7.0}, 0.5, 20)
    assert 0 < sum(reached.values()) <= 1 + 1e-9
    assert min(reached.values()) >= 0


def test_a_graph_that_grew_is_walked_as_if_it_had_been_whole() -> None:
    edges: dict[tuple[GraphNode, GraphNode], float] = {("ada", 1): 1.0, ("bob", 1): 1.0, ("ada", "bob"): 2.0}
    graph = WalkGraph({"ada": 1.0})
    for ends, weight in [*edges.items(), *edges.items()]:
        graph.add({ends: weight}, {"bob": 9.0})
        graph.count_visits(0.3, 2)
    graph.add({("bob", "ada"): 2.0}, {})
    assert graph.count_visits(0.3, 9) == personalized_pagerank(edges, {"ada": 1.0}, {"bob": 9.0}, 0.3, 9)
