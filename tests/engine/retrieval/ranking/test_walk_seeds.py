from __future__ import annotations

import pytest

from engine.options import RankingOptions
from engine.retrieval.ranking.walk_seeds import (
    SeedFact,
    add_nearest_chunks,
    build_name_seeds,
    count_expandable,
    least_ranked_visits,
    max_seed_mentions,
    most_visited,
)
from engine.storage.ledger.records import EntityMatch

OPTIONS = RankingOptions(prior_weight=0.1)
ADA, BOB = EntityMatch("ada", 1, "ada", 1, 0), EntityMatch("bob", 2, "bob", 3, 0)


@pytest.mark.parametrize(("chunks", "mentions"), [(10, 5), (250, 5), (1000, 20)])
def test_a_frequent_name_is_no_start(chunks: int, mentions: int) -> None:
    assert max_seed_mentions(chunks, RankingOptions()) == mentions


def test_rare_names_weigh_more_and_all_names_weigh_one() -> None:
    assert build_name_seeds([ADA, BOB, ADA], [], {}) == {"ada": 0.75, "bob": 0.25}


def test_a_named_file_weighs_as_much_as_a_name_of_one_mention() -> None:
    assert build_name_seeds([ADA], [], {"harbor": [7, 8]}) == {"ada": 0.5, 7: 0.25, 8: 0.25}


def test_the_ends_of_near_relations_are_starts() -> None:
    facts = [SeedFact("ada", 2, 0.8), SeedFact("ada", 2, 0.4), SeedFact("bob", 1, 0.3)]
    assert build_name_seeds([], facts, {}) == pytest.approx({"ada": 0.5, "bob": 0.5})


def test_the_nearest_chunks_add_a_little() -> None:
    assert add_nearest_chunks({"ada": 1.0}, {7: 0.9, 8: 0.5, 9: 0.1}, OPTIONS) == pytest.approx(
        {"ada": 1.0, 7: 0.1, 8: 0.05}
    )


@pytest.mark.parametrize(
    ("visits", "least"),
    [
        pytest.param([0.2, 0.1, 0.02, 0.001], 0.0, id="falling"),
        pytest.param([0.2, 0.1, 0.02, 0.015], 0.02, id="flat after the names"),
        pytest.param([0.2, 0.1, 0.02], 0.0, id="few chunks"),
        pytest.param([0.2, 0.0, 0.0, 0.0], 0.0, id="one chunk"),
    ],
)
def test_only_chunks_close_to_the_names_are_ranked_if_visits_are_flat(visits: list[float], least: float) -> None:
    options = RankingOptions(max_walk_chunks=4, flatness_rank=3, max_flatness=0.3, min_visit_share=0.1)
    assert least_ranked_visits(visits, options) == pytest.approx(least)


def test_the_nodes_that_are_visited_most_come_with_those_that_are_visited_as_often() -> None:
    assert most_visited({1: 0.2, 2: 0.5, 3: 0.9, 4: 0.1, 5: 0.2000000001}, {3}, 2) == {1: 0.2, 2: 0.5, 5: 0.2}
    assert most_visited({1: 0.2}, (), 0) == {}


def test_nodes_are_expanded_while_there_are_edges_left() -> None:
    assert count_expandable([2.0, 0.0, 7.0, 1.0], 10) == 3
    assert count_expandable([20.0, 1.0], 10) == 0
