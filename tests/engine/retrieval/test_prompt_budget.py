"""Token budgets of a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.retrieval.prompt_budget import tokens_for_sources, truncate_to_budget
from engine.retrieval.ranking import round_robin

if TYPE_CHECKING:
    from collections.abc import Sequence


class Letters:
    """One character is one token."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))

    def count(self, text: str) -> int:
        return len(text)


@pytest.mark.parametrize(("budget", "kept"), [(10, 2), (9, 2), (8, 1), (3, 0)])
def test_t1_the_longest_prefix_that_fits_is_kept(budget: int, kept: int) -> None:
    assert truncate_to_budget([1, 2, 3], ["aaaa", "bbbb", "cccc"], budget, Letters()) == [1, 2, 3][:kept]


def test_t2_a_relation_known_in_one_direction_survives_and_is_found_in_the_other() -> None:
    merged = round_robin([tuple(sorted(("D", "C")))], [("A", "B"), tuple(sorted(("C", "D")))])
    assert truncate_to_budget(merged, ["x"] * len(merged), 10, Letters()) == [("C", "D"), ("A", "B")]


def test_the_room_for_sources_is_what_is_left_and_history_counts() -> None:
    assert tokens_for_sources(30000, 4020, 14000) == 11780
    assert tokens_for_sources(1000, 1000, 0) == 0
