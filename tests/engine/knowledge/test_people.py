"""People are told from other things by types, and by the names of those who write, in any spelling."""

from __future__ import annotations

import pytest

from engine.knowledge.people import (
    drop_people,
    find_people,
    is_addressed,
    is_person_type,
    list_author_names,
    name_keys,
)
from engine.models import Extraction, Link, Mention
from engine.text.names import normalize_name


def left(
    *mentions: tuple[str, str], links: tuple[tuple[str, str], ...] = (), authors: tuple[str, ...] = ()
) -> set[str]:
    """The names that are left of an extraction, in which these people write."""
    known = {key for author in authors for name in list_author_names(author) for key in name.keys}
    extraction = Extraction(
        tuple(Mention(name, type_, "said") for name, type_ in mentions),
        tuple(Link(*ends, "", "said") for ends in links),
    )
    names = {*(name for name, _ in mentions), *(end for ends in links for end in ends)}
    shown = {normalize_name(name) for name in names if not known.isdisjoint(name_keys(name))}
    kept = drop_people(extraction, find_people(extraction, shown))
    return {mention.name for mention in kept.mentions} | {
        end for link in kept.links for end in (link.source, link.target)
    }


@pytest.mark.parametrize(
    "name",
    ["Nadia Öberg", "NADIA OBERG", "Oberg, Nadia", "Dr. Nadia Öberg", "@nadia.oberg", "nadia_oberg", "Nadia Öberg's"],
)
def test_a_name_of_an_author_is_a_person_in_every_spelling(name: str) -> None:
    assert left((name, "concept"), ("Quay", "location"), authors=("Nadia Öberg",)) == {"Quay"}


@pytest.mark.parametrize("type_", ["organization", "product", "location", "technology", "event"])
def test_a_text_that_says_what_else_it_is_outdoes_the_name_of_an_author(type_: str) -> None:
    links = (("Harbor Office", "Lantern"),)
    assert left(("Harbor Office", type_), links=links, authors=("Harbor Office",)) == {"Harbor Office", "Lantern"}


@pytest.mark.parametrize("author", ["Nadia (she/her)", "Nadia | Support", "Nadia — support", "nadia"])
def test_what_follows_a_display_name_does_not_hide_the_person(author: str) -> None:
    assert left(("Nadia", "concept"), authors=(author,)) == set()


def test_a_part_of_an_authors_name_is_a_person_only_if_a_text_says_so() -> None:
    mentions = ("Falcon", "concept"), ("Lantern", "service"), ("Nadia", "person")
    assert left(*mentions, authors=("Falcon Lantern", "Nadia Öberg")) == {"Falcon", "Lantern"}


@pytest.mark.parametrize("type_", ["person", "Person", "team_member", "persona", "人物", "salesperson", "mitarbeiter"])
def test_a_type_means_people_in_the_languages_of_models(type_: str) -> None:
    assert is_person_type(type_)


@pytest.mark.parametrize("type_", ["", "organization", "user-interface", "personalization", "customer", "concept"])
def test_other_types_do_not(type_: str) -> None:
    assert not is_person_type(type_)


def test_links_to_a_person_go_with_them_and_others_stay() -> None:
    links = (("Mira", "Lantern"), ("Lantern", "Quay"))
    assert left(("Mira", "person"), links=links) == {"Lantern", "Quay"}
    assert left(links=links, authors=("Mira",)) == {"Lantern", "Quay"}


def test_a_handle_is_a_person_and_a_package_is_none() -> None:
    assert left(("@mira", "concept"), ("@lantern/core", "technology")) == {"@lantern/core"}


@pytest.mark.parametrize(("text", "addressed"), [("ask @mira, please", True), ("mail x@mira.example", False)])
def test_an_at_sign_addresses_a_name_unless_it_is_of_an_address_or_a_package(text: str, addressed: bool) -> None:  # noqa: FBT001 - a case
    assert is_addressed("Mira", text) == addressed
    assert not is_addressed("Mira", "install @mira/core")


def test_messages_without_an_author_name_nobody() -> None:
    assert left(("Unknown", "concept"), authors=("unknown", "")) == {"Unknown"}
