from __future__ import annotations

from engine.llm.offline.names.resolution import resolve_names
from engine.llm.offline.names.types import CONCEPT, LOCATION, PERSON, NamedEntity


def resolve(*sentences: dict[str, str]) -> list[dict[str, str]]:
    named = [
        [NamedEntity(name, type_, at) for at, (name, type_) in enumerate(sentence.items())] for sentence in sentences
    ]
    return [{one.name: one.type for one in sentence} for sentence in resolve_names(named)]


def test_a_part_of_one_persons_name_is_that_person() -> None:
    assert (
        resolve({"Mira Vosk": PERSON}, {"Vosk": CONCEPT}, {"Mira": PERSON}, {"Mr. Vosk": PERSON})
        == [{"Mira Vosk": PERSON}] * 4
    )


def test_a_part_that_two_persons_share_stays_as_it_is() -> None:
    assert resolve({"Mira Vosk": PERSON, "Tolv Vosk": PERSON}, {"Vosk": CONCEPT})[1] == {"Vosk": CONCEPT}


def test_a_cue_for_a_person_counts_in_all_sentences() -> None:
    assert resolve({"Vosk": CONCEPT}, {"Vosk": PERSON}) == [{"Vosk": PERSON}] * 2
    assert resolve({"Ebbe Vosk": CONCEPT}, {"Vosk": PERSON})[0] == {"Ebbe Vosk": PERSON}
    assert resolve({"Vosk": CONCEPT}, {"Mrs. Vosk": PERSON})[0] == {"Vosk": PERSON}


def test_a_lone_last_word_of_a_longer_name_is_a_noun() -> None:
    assert resolve({"Skelby Institute": "organization"}, {"Institute": CONCEPT}) == [
        {"Skelby Institute": "organization"},
        {},
    ]


def test_a_full_name_needs_no_title_and_a_family_name_of_a_woman_is_not_any_persons() -> None:
    assert resolve({"Mr. Mira Vosk": PERSON, "Dr. Vosk": PERSON})[0] == {"Mira Vosk": PERSON, "Dr. Vosk": PERSON}
    assert resolve({"Tolv Vosk": PERSON}, {"Mrs. Vosk": PERSON})[1] == {"Mrs. Vosk": PERSON}


def test_the_most_frequent_cue_gives_the_type() -> None:
    assert resolve({"Skelby": LOCATION}, {"Skelby": CONCEPT}, {"Skelby": CONCEPT}) == [{"Skelby": LOCATION}] * 3
