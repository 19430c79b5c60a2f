from __future__ import annotations

from engine.llm.offline.names.selection import MAX_UNTYPED, Prose, select_names
from engine.llm.offline.names.types import CONCEPT, PERSON, NamedEntity


def write(*names: str, type_: str = CONCEPT, rest: str = ".", is_item: bool = False) -> list[Prose]:
    return [Prose(f"{name}{rest}", is_item, [NamedEntity(name, type_, 0)]) for name in names]


def kept(*sentences: Prose) -> list[str]:
    return [one.name for names in select_names(sentences) for one in names]


MANY = write(*(f"Vosk {number}" for number in range(MAX_UNTYPED)))


def test_a_single_word_that_stands_once_goes_where_there_are_many_names() -> None:
    assert kept(*MANY, *write("Skelby"))[MAX_UNTYPED:] == []
    assert kept(*MANY[1:], *write("Skelby"))[MAX_UNTYPED - 1 :] == ["Skelby"]


def test_what_recurs_or_has_a_type_or_several_words_or_stands_in_a_list_stays() -> None:
    more = [
        *write("Skelby", "Skelby", "Ember Store", "#quay"),
        *write("Arrend", type_=PERSON),
        *write("Lamp", is_item=True),
    ]
    assert kept(*MANY, *more)[MAX_UNTYPED:] == ["Skelby", "Skelby", "Ember Store", "#quay", "Arrend", "Lamp"]


def test_words_before_a_noun_and_abbreviations_go_first() -> None:
    weak = [*write("Redis", rest=" cache is full."), *write("RNA"), *write("Skelby", rest=" is here.")]
    assert kept(*MANY[2:], *weak)[MAX_UNTYPED - 2 :] == ["Redis", "Skelby"]
    assert kept(*MANY[1:], *weak)[MAX_UNTYPED - 1 :] == ["Skelby"]
