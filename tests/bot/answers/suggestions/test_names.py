"""A name makes a good question if a reader knows what it means, and is inert wherever it is shown."""

from __future__ import annotations

import pytest

from bot.answers.suggestions.candidates import NameJudge, contains_name, is_person_name, is_well_formed


@pytest.mark.parametrize("name", ["Long Bench", "Henrike Tolland", "Kettle and Cleat", "Mending", "Orrin & Sons"])
def test_proper_names_are_well_formed(name: str) -> None:
    assert is_well_formed(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PDF", "Verb's_x", "get_user", "v1.2.3", "17-B", "Mending 2026", "of the Mending", "Total", "Friday", "Ab"),
        *("The Bench", "long Bench", "Evil.com", "https://evil.example", "@everyone", "Everyone", "<!channel>", ""),
        *("Long  Bench", "Long\nBench", "*Long* Bench", "[Long](x)", "Long `Bench`", "A" * 50),
    ],
)
def test_code_numbers_markup_and_generic_words_are_not(name: str) -> None:
    assert not is_well_formed(name)


def test_a_person_may_have_a_first_name_alone_but_no_handle() -> None:
    assert [is_person_name(name) for name in ("Bo", "Ada Lovelace", "bo_smith", "B", "Bo 2", "@Bo", "Here")] == [
        *(True, True, False, False, False, False, False)
    ]


def test_a_common_word_and_a_part_of_a_name_are_no_good_names() -> None:
    judge = NameJudge.build(
        ["The Raffle is on. A raffle again. Gannet Tooth stands. The Long Bench, the Long Bench!"],
        ["Raffle", "Tooth", "Gannet Tooth", "Long Bench", "Quay Street"],
    )
    assert [
        name for name in ("Raffle", "Tooth", "Gannet Tooth", "Long Bench", "Quay Street") if judge.is_good(name)
    ] == [*("Gannet Tooth", "Long Bench")]
    kites = NameJudge.build(["Delta kites, a Delta kite; the Mending is near, Mending day"], ["Delta", "Mending"])
    assert [kites.is_good("Delta"), kites.is_good("Mending")] == [False, True]
    assert judge.add_article("Long Bench") == "the Long Bench"
    assert judge.add_article("Gannet Tooth") == "Gannet Tooth"


def test_a_name_is_found_as_whole_words() -> None:
    assert contains_name("bench", "the bench, then")
    assert not contains_name("bench", "benches on workbench")
    assert not contains_name("", "bench")
