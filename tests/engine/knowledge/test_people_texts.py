"""Sentences that name people are taken out of descriptions of other things, and nothing else is."""

from __future__ import annotations

import pytest

from engine.knowledge.people import name_keys
from engine.knowledge.people_texts import NamedPeople, drop_sentences, list_keys
from engine.models import Extraction, Link, Mention

PEOPLE = NamedPeople(("dr. ada berg", "falcon lantern"), kept=("Lantern Works", "Kiln"))


def clean(description: str, people: NamedPeople = PEOPLE) -> str:
    return drop_sentences(Extraction((Mention("Kiln", "thing", description),)), people).mentions[0].description


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("The kiln fires tiles. Ada Berg lit it. It cools slowly.", "The kiln fires tiles. It cools slowly."),
        ("Lit by Dr. Berg in May. It is warm.", "It is warm."),
        ("BERG, ADA keeps the key.", ""),
        ("Ada's kiln is warm.", ""),
        ("The Lantern Works built it.", "The Lantern Works built it."),
        ("An adapter and iceberg tiles.", "An adapter and iceberg tiles."),
        ("It cost 4.50 euros, e.g. for clay.", "It cost 4.50 euros, e.g. for clay."),
        ("", ""),
    ],
)
def test_a_sentence_goes_with_the_person_that_it_names(told: str, left: str) -> None:
    assert clean(told) == left


def test_names_that_other_texts_show_are_found_by_their_keys_alone() -> None:
    facts = Extraction((Mention("Kiln", "thing", "Mina Oster paints. The Kiln is warm. 田中さんが来た。窯は熱い。"),))
    keys = list_keys(facts, ["Kiln"])
    assert name_keys("Oster, Mina") & keys
    assert "kiln" not in keys
    assert clean(facts.mentions[0].description, NamedPeople((), name_keys("Oster, Mina"))).startswith(
        "The Kiln is warm."
    )


def test_keywords_of_relations_lose_people_and_keep_the_rest() -> None:
    facts = Extraction((), (Link("Kiln", "Quay", "firing, Ada Berg, clay", "Ada Berg carries it."),))
    [link] = drop_sentences(facts, PEOPLE).links
    assert (link.keywords, link.description) == ("firing, clay", "")
