from __future__ import annotations

import pytest

from engine.knowledge.duplicates.homonyms import TypeEvidence, find_senses


@pytest.mark.parametrize(
    ("types", "senses"),
    [
        ({"person": 2, "location": 2}, ["location", "person"]),
        ({"person": 5, "organization": 2, "concept": 9}, ["person", "organization"]),
        ({"location": 3, "product": 2}, ["location", "product"]),
        ({"person": 9, "location": 1}, []),
        ({"organization": 4, "location": 4}, []),  # a town hall is both
        ({"person": 4, "character": 4, "other": 7}, []),
        ({"concept": 4, "method": 4}, []),
        ({}, []),
    ],
)
def test_a_name_has_two_senses_if_two_sources_each_give_types_that_exclude_each_other(
    types: dict[str, int], senses: list[str]
) -> None:
    evidence = [TypeEvidence(type_, sources, 1) for type_, sources in types.items()]
    assert [sense.type for sense in find_senses(evidence)] == senses
