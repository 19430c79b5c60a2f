from __future__ import annotations

import pytest

from engine.knowledge.duplicates.name_keys import Definition, find_definitions, is_abbreviation


@pytest.mark.parametrize(
    ("text", "definitions"),
    [
        ("It met the World Health Organization (WHO) again.", [("WHO", "World Health Organization")]),
        (
            "an Office for Co-operation and Dredging (OCD),",
            [("OCD", "Office for Co-operation and Dredging")],
        ),
        ("two Variants of Interest (VOIs)", [("VOIs", "Variants of Interest")]),
        ("the Harbor\nTrust Fund (HTF)", [("HTF", "Harbor Trust Fund")]),
        ("Harbor Trust (HT) and Harbor Trust (HT)", [("HT", "Harbor Trust")]),
        ("the ferry to Harwich (UK)", []),
        ("the mayor is Ada Lovelace (PS)", []),
        ("a long way before the Harbor (ABC)", []),
        ("the World Trade Health Organization (WHO)", []),
        ("a good choice (or so)", []),
        ("no parentheses WHO", []),
        ("Drop Zone (Dz)", []),
    ],
)
def test_abbreviations_are_found_with_their_long_form(text: str, definitions: list[tuple[str, str]]) -> None:
    assert find_definitions(text) == [Definition(*definition) for definition in definitions]


def test_an_abbreviation_has_the_initials_of_every_word() -> None:
    assert is_abbreviation("HTF", "Harbor Trust Fund")
    assert is_abbreviation("HTF", "Harbor Trust and Fund")
    assert not is_abbreviation("HTF", "Old Harbor Trust Fund")
    assert not is_abbreviation("HTF", "")
