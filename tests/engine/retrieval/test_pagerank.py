from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.pagerank import personalized_pagerank

if TYPE_CHECKING:
    from engine.retrieval.pagerank import GraphNode


def test_what_a_hub_leads_to_is_come_by_less() -> None:
    edges: dict[tuple[GraphNode, GraphNode], float] = {
        ("start", "hub"): 1.0,
        ("start", "small"): 1.0,
        ("hub", 1): 1.0,
        ("small", 2): 1.0,
    }
    reached = personalized_pagerank(edges, {"start": 1.0}, {"hub": 1000.0}, 0.5, 20)
    assert reached[1] < reached[2] / 100


@given(st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.integers(1, 9)), st.just(1.0)))
def test_no_walker_is_made_out_of_nothing(edges: dict[tuple[GraphNode, GraphNode], float]) -> None:
    reached = personalized_pagerank(edges, {"a": 2.0, 1: 1.0}, {"b": 7.0}, 0.5, 20)
    assert 0 < sum(reached.values()) <= 1 + 1e-9
    assert min(reached.values()) >= 0
