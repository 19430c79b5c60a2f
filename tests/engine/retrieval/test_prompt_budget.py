"""Token budgets of a prompt."""

from __future__ import annotations

import pytest

from engine.models import ChatTurn
from engine.retrieval.ranking.fusion import round_robin
from engine.retrieval.sources import newest_turns, tokens_for_sources, truncate_to_budget
from tests.support.tokenizers import CharacterTokenizer

CHARACTERS = CharacterTokenizer()


@pytest.mark.parametrize(("budget", "kept"), [(10, 2), (9, 2), (8, 1), (3, 0)])
def test_t1_the_longest_prefix_that_fits_is_kept(budget: int, kept: int) -> None:
    assert truncate_to_budget([1, 2, 3], ["aaaa", "bbbb", "cccc"], budget, CHARACTERS) == ([1, 2, 3][:kept], 5 * kept)


def test_t2_a_relation_found_in_both_directions_is_kept_once() -> None:
    merged = round_robin([tuple(sorted(("D", "C")))], [("A", "B"), tuple(sorted(("C", "D")))])
    assert truncate_to_budget(merged, ["x"] * len(merged), 10, CHARACTERS)[0] == [("C", "D"), ("A", "B")]


@pytest.mark.parametrize(("budget", "used", "history", "left"), [(30000, 4020, 14000, 11780), (1000, 1000, 0, 0)])
def test_sources_get_what_context_and_history_leave(budget: int, used: int, history: int, left: int) -> None:
    assert tokens_for_sources(budget, used, history) == left


def test_the_newest_turns_that_fit_are_kept_in_order() -> None:
    turns = [ChatTurn("user", "aaaa"), ChatTurn("assistant", "bb"), ChatTurn("user", "ccc")]
    assert newest_turns(turns, 5, CHARACTERS) == tuple(turns[1:])
    assert newest_turns(turns, 2, CHARACTERS) == newest_turns([], 5, CHARACTERS) == ()
