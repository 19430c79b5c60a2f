from __future__ import annotations

import pytest

from engine.knowledge.duplicates.name_keys import parse_spelling, spelling_key


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("covid-19", "covid 19"),
        ("b - 29 bomber", "b-29 bomber"),
        ("north east", "northeast"),
        ("washington, d.c.", "washington dc"),
        ("café müller", "cafe muller"),
        ("ada's harbor", "adas harbor"),
        ("the harbor trust", "harbor trust"),
        ("dr. ada lovelace", "ada lovelace"),
        ("trains & boats", "trains and boat"),
        ("harbor trust fund (htf)", "harbor trust fund"),
        ("vaccines", "vaccine"),
        ("harbor facilities", "harbor facility"),
        ("wooden boxes", "wooden box"),
    ],
)
def test_spellings_of_a_name_share_their_key(name: str, other: str) -> None:
    assert spelling_key(name) == spelling_key(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("c++", "c"),
        ("c#", "c"),
        ("#general", "general"),
        ("@ada", "ada"),
        (".net", "net"),
        ("version 1.2", "version 12"),
        ("1 23", "12 3"),
        ("-5 degrees", "5 degrees"),
        ("the who", "who"),
        ("dr. lovelace", "lovelace"),
        ("a/b", "ab"),
        ("phase i", "phase ii"),
        ("elizabeth i", "elizabeth ii"),
        ("harbor (east)", "harbor (west)"),
        ("mass", "mas"),
        ("physics", "physic"),
        ("パパ", "ハハ"),  # marks that make other letters
    ],
)
def test_different_names_have_different_keys(name: str, other: str) -> None:
    assert spelling_key(name) != spelling_key(other)


def test_what_was_removed_is_known() -> None:
    parts = parse_spelling("the dr. ada lovelaces")
    assert (parts.article, parts.honorific, parts.core, parts.plural_core) == (
        "the",
        "dr",
        "adalovelaces",
        "adalovelace",
    )
    assert parse_spelling("harbor trust fund (htf)").abbreviation == "htf"
    assert parse_spelling("café").accentless
    assert spelling_key("--") == "--"
