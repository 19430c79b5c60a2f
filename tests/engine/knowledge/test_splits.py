from __future__ import annotations

import pytest

from engine.knowledge.splits import (
    Split,
    assigned_name,
    base_name,
    build_rule,
    choose_chunk_keys,
    choose_keys,
    is_part_key,
    key_range,
    parse_rule,
    part_key,
)
from engine.text.names import normalize_name

PERSON = Split("avon", "avon (person)", build_rule("type", "person"))
MINUTES = Split("avon", "avon (club)", build_rule("document", "minutes 3"))


def test_a_key_tells_the_name_as_written_and_the_part() -> None:
    key = part_key("avon", "avon (person)")
    assert (base_name(key), assigned_name(key), is_part_key(key)) == ("avon", "avon (person)", True)
    assert (base_name("avon"), assigned_name("avon"), is_part_key("avon")) == ("avon", "avon", False)
    assert normalize_name(key) != key  # no text contains it


def test_the_range_of_keys_holds_all_parts_of_a_name_and_no_other() -> None:
    first, end = key_range("avon")
    assert first <= part_key("avon", "a") < end
    assert first <= part_key("avon", "𐍈") < end
    assert not any(first <= other < end for other in ("avon", "avon b", "avons", part_key("avons", "a")))


def test_a_rule_keeps_its_value_with_blanks() -> None:
    assert parse_rule(MINUTES.rule) == ("document", "minutes 3")


@pytest.mark.parametrize(
    ("types", "person", "location", "rest"),
    [
        ({"person"}, "avon AS avon (person)", "avon", "avon AS avon (person)"),
        ({"person", "location"}, "avon AS avon (person)", "avon", "avon"),
    ],
)
def test_mentions_follow_their_type_and_links_follow_mentions_of_one_part(
    types: set[str], person: str, location: str, rest: str
) -> None:
    keys = choose_keys([PERSON], types, "minutes 1")
    assert keys is not None
    assert (keys.of_mention("person"), keys.of_mention("location"), keys.of_mention("")) == (person, location, rest)


@pytest.mark.parametrize("types", [set[str](), {"location"}])
def test_a_chunk_that_states_no_such_type_keeps_its_facts(types: set[str]) -> None:
    assert choose_keys([PERSON], types, "minutes 1") is None


def test_a_rule_for_the_document_counts_before_those_for_types() -> None:
    keys = choose_keys([PERSON, MINUTES], {"person"}, "minutes 3")
    assert keys is not None
    assert {keys.of_mention(type_) for type_ in ("person", "location", "")} == {"avon AS avon (club)"}


def test_only_split_names_of_a_chunk_are_moved() -> None:
    mentions = [("avon", "person"), ("avon", ""), ("mira", "person")]
    assert choose_chunk_keys({"avon": [PERSON]}, mentions, "d").keys() == {"avon"}
    assert choose_chunk_keys({"avon": [PERSON]}, [("avon", "")], "d") == {}
