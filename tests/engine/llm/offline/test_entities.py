from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.entities import ExcerptFacts, collect_excerpt_facts, find_entities


def found(sentence: str, known: ExcerptFacts | None = None) -> list[str]:
    return [name.name for name in find_entities(sentence, known or ExcerptFacts())]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The Long Bench stands where Mill Street meets the Ropewalk.", ["Long Bench", "Mill Street", "Ropewalk"]),
        ("We saw the Museum of Small Finds on Tuesday 12 May.", ["Museum of Small Finds"]),
        ("Ask Dr. Marsh about permit 17-B and ticket ABC-123.", ["Dr. Marsh", "17-B", "ABC-123"]),
        (
            "Call load_index() of EmberStore v2.3.1 in buildGraph.",
            ["load_index()", "EmberStore", "v2.3.1", "buildGraph"],
        ),
        ("Tell @ada.b and #har-bour about it.", ["@ada.b", "#har-bour"]),
        ("Łukasz and Ökologie GmbH met Élodie in Αθήνα.", ["Łukasz", "Ökologie GmbH", "Élodie", "Αθήνα"]),
        ("Buoy 4 is back; Bram's lamp too.", ["Buoy 4", "Bram"]),
        ("Please come. ", []),
        ("門が開く。", []),
    ],
)
def test_names_are_found_by_their_looks(sentence: str, expected: list[str]) -> None:
    assert found(sentence) == expected


def test_a_common_word_at_the_start_is_no_name_and_an_uncommon_one_is() -> None:
    assert found("Water is off on Monday.") == []
    assert found("Ploughton is far from here.") == ["Ploughton"]


def test_a_word_at_the_start_counts_if_it_is_a_name_elsewhere_and_not_if_it_is_a_small_word_elsewhere() -> None:
    known = collect_excerpt_facts(["We like Welcome, the boat.", "A slipway is wet."], [])
    assert found("Welcome sails at nine today.", known) == ["Welcome"]
    assert found("Slipway cleaning starts at nine.", known) == []


def test_shouting_names_nobody() -> None:
    assert found("PLEASE DO NOT FEED THE GOOSE ON THE QUAY") == []


def test_a_part_of_a_speakers_name_means_the_speaker() -> None:
    known = collect_excerpt_facts([], ["Ada Byron", "Bo Holm", "Bo Lind"])
    assert found("We asked Ada and then Bo.", known) == ["Ada Byron", "Bo"]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("We met Dr. Marsh there.", "person"),
        ("It was Ilse Holm who said it; Ilse Holm said so.", "concept"),
        ("Later Ilse Holm said no.", "person"),
        ("It is in Mill Street now.", "location"),
        ("She lives near Skelby now.", "location"),
        ("The work of Torfield Ltd is good.", "organization"),
        ("All of the Lantern Festival was wet.", "event"),
        ("The key is K-41 there.", "artifact"),
        ("We know @ada by now.", "person"),
        ("What the Mending means.", "concept"),
    ],
)
def test_cues_tell_the_type(sentence: str, kind: str) -> None:
    assert find_entities(sentence, ExcerptFacts())[0].type == kind


@given(st.text(max_size=200))
def test_any_text_gives_names_that_differ_and_stand_in_order(text: str) -> None:
    starts = [name.start for name in find_entities(text, collect_excerpt_facts([text], []))]
    assert starts == sorted(starts)
