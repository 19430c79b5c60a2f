from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.duplicates.joins import (
    Join,
    JoinReason,
    ManualAliases,
    NameEvidence,
    find_join_reason,
    plan_joins,
)
from engine.knowledge.duplicates.name_keys import parse_spelling
from engine.text.names import normalize_name

NOTHING = ManualAliases({}, frozenset(), frozenset())


def evidence(surface: str, type_: str = "", expansion: str = "") -> NameEvidence:
    core = parse_spelling(normalize_name(expansion)).core if expansion else ""
    return NameEvidence(normalize_name(surface), frozenset({surface}), frozenset({type_} - {""}), core)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("Covid-19", "COVID 19", JoinReason.SPELLING),
        ("U.S.A.", "USA", JoinReason.SPELLING),
        ("IL-6", "IL 6", JoinReason.SPELLING),
        ("North East", "Northeast", JoinReason.SPELLING),
        ("Beyoncé", "Beyonce", JoinReason.SPELLING),
        ("the Harbor Trust", "Harbor Trust", JoinReason.ARTICLE),
        ("Dr. Ada Lovelace", "Ada Lovelace", JoinReason.HONORIFIC),
        ("Harbor Trust Fund (HTF)", "Harbor Trust Fund", JoinReason.ABBREVIATION),
        ("steam engine", "steam engines", JoinReason.PLURAL),
        ("Rapeseed harvesters", "rapeseed harvester", JoinReason.PLURAL),
        ("farm", "farms", None),
        ("U.S.", "us", None),
        ("I.T.", "it", None),
        ("Péna", "Pena", None),
        ("Mr. Ada Byron", "Mrs. Ada Byron", None),
        ("Adam Smith", "Adam Smiths", None),
        ("Big Eye", "Big Eyes", None),
        ("Good", "goods", None),
        ("meeting minute", "meeting minutes", None),
        ("McDonald", "McDonald's", None),
        ("Harbor", "Harbour", None),
    ],
)
def test_only_certain_pairs_have_a_reason(a: str, b: str, reason: JoinReason | None) -> None:
    assert find_join_reason(evidence(a), evidence(b)) == reason
    assert find_join_reason(evidence(b), evidence(a)) == reason


def test_capitalized_plurals_are_joined_if_their_type_says_that_they_are_common_nouns() -> None:
    assert find_join_reason(evidence("Vaccine", "concept"), evidence("Vaccines", "concept")) is JoinReason.PLURAL
    assert find_join_reason(evidence("Adam Smith", "person"), evidence("Adam Smiths", "person")) is None
    assert find_join_reason(evidence("Vaccine", "concept"), evidence("Vaccines", "organization")) is None


def test_an_abbreviation_needs_its_definition_and_capitals() -> None:
    long = evidence("World Harbor Organization")
    assert find_join_reason(evidence("WHO", expansion=long.name), long) is JoinReason.ABBREVIATION
    assert find_join_reason(evidence("WHO"), long) is None
    mixed = NameEvidence("who", frozenset({"WHO", "Who"}), expansion=parse_spelling(long.name).core)
    assert find_join_reason(mixed, long) is None
    assert find_join_reason(evidence("Who", expansion=long.name), long) is None
    assert find_join_reason(evidence("WHO", expansion="Wild Horse Order"), long) is None


def test_names_are_joined_into_the_longest() -> None:
    members = [evidence("covid19"), evidence("COVID-19"), evidence("Covid 19")]
    expected = [
        Join("covid-19", "covid 19", JoinReason.SPELLING),
        Join("covid19", "covid 19", JoinReason.SPELLING),
    ]
    assert [plan_joins(order, NOTHING) for order in permutations(members)] == [expected] * 6


def test_separated_names_are_not_joined_through_a_third() -> None:
    manual = ManualAliases({}, frozenset(), frozenset({("covid 19", "covid-19")}))
    members = [evidence("covid19"), evidence("COVID-19"), evidence("Covid 19")]
    assert plan_joins(members, manual) == [Join("covid19", "covid 19", JoinReason.SPELLING)]


def test_a_cluster_follows_an_alias_by_hand() -> None:
    manual = ManualAliases({"covid 19": "the virus"}, frozenset({"the virus"}), frozenset())
    members = [evidence("COVID-19"), evidence("Covid 19")]
    assert plan_joins(members, manual) == [Join("covid-19", "the virus", JoinReason.SPELLING)]


SURFACES = st.sampled_from(["Covid-19", "COVID 19", "covid19", "Covid - 19", "the Covid 19", "covid 19s"])


@given(
    st.lists(SURFACES, unique=True),
    st.sets(st.tuples(SURFACES, SURFACES)),
    st.dictionaries(SURFACES, st.sampled_from(["covid19", "other"])),
)
def test_joins_keep_to_separations_and_never_leave_an_alias_by_hand(
    surfaces: list[str], separated: set[tuple[str, str]], aliases: dict[str, str]
) -> None:
    distinct = {(min(pair), max(pair)) for a, b in separated if len(pair := {normalize_name(a), normalize_name(b)}) > 1}
    ends = {
        name: end for each, end in aliases.items() if (name := normalize_name(each)) != end and "covid19" not in name
    }
    manual = ManualAliases(ends, frozenset(ends.values()), frozenset(distinct))
    joins = plan_joins([evidence(surface) for surface in surfaces], manual)
    targets = ends | {join.name: join.target for join in joins}
    assert not any(join.name in ends for join in joins)
    assert not any(manual.are_distinct(join.name, join.target) for join in joins)
    assert len({join.name for join in joins}) == len(joins)
    for name in targets:
        for _ in targets:
            name = targets.get(name, name)  # noqa: PLW2901  - follow the aliases
        assert name not in targets
    assert plan_joins([evidence(surface) for surface in reversed(surfaces)], manual) == joins
