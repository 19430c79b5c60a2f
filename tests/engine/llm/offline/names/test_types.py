from __future__ import annotations

import pytest

from engine.llm.offline.entities import ExcerptFacts, collect_excerpt_facts, find_entities
from engine.llm.offline.names.types import CONCEPT, LOCATION, PERSON

# A sentence, and its names with their types.
TYPES = """
"Close the hatch," said Vosk. => Vosk person
We asked the architect Ebbe Vosk and Tolv Arrend. => Ebbe Vosk person, Tolv Arrend person
It was written by Ebbe Vosk in Norway. => Ebbe Vosk person, Norway location
Hannah Vosk moved to New York City. => Hannah Vosk person, New York City location
See Arrend TK, Vosk E, and others. => Arrend TK person, Vosk E person
Vosk's brother came. => Vosk person
We saw Vosk's face. => Vosk person
"Close it," said the Spectre. => Spectre person
The Trust, said the Spectre, is in UTC. => Trust concept, Spectre concept, UTC concept
See Arrend T, Vosk E. Tides of old. => Arrend T person, Vosk E person, Tides concept
Hannah Vosk , Tolv Arrend and Ebbe Holm came. => Hannah Vosk person, Tolv Arrend person, Ebbe Holm person
The 1988 Winter Olympics were cold. => 1988 Winter Olympics event
In Lübeck, wir trafen Frau Arrend. => Lübeck location, Frau Arrend person
"""
# A sentence of an English text, and its names: adjectives, nouns, cries and codes are none.
WORDS = """
Valid from 3 May, the fee is 12 EUR. =>
Greased winches last. =>
Humbug! =>
Vosk wept for an hour. => Vosk
Team meets the School. =>
The ghost came; a Ghost is pale. =>
Brandt builds the dock. => Brandt
Redis-based caches help the team. =>
We'll see; I'll call the U.S. embassy. => U.S.
She lives in Los Angeles now. => Los Angeles
"""
ENGLISH = collect_excerpt_facts(["this is the text of a ghost"], [])


@pytest.mark.parametrize("line", TYPES.strip().splitlines())
def test_cues_around_a_name_tell_its_type(line: str) -> None:
    sentence, _, names = line.partition(" => ")
    found = find_entities(sentence, ExcerptFacts())
    assert ", ".join(f"{one.name} {one.type}" for one in found) == names


@pytest.mark.parametrize("line", WORDS.strip().splitlines())
def test_words_that_are_capitalized_for_another_reason_are_no_names(line: str) -> None:
    sentence, _, names = line.partition(" =>")
    assert ", ".join(one.name for one in find_entities(sentence, ENGLISH)) == names.strip()


def test_what_is_neither_is_a_concept_and_a_river_is_a_place() -> None:
    found = find_entities("We saw the Vosk River beside the Ember Store.", ExcerptFacts())
    assert [one.type for one in found] == [LOCATION, CONCEPT]
    assert PERSON not in {one.type for one in found}
