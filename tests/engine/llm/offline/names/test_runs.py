from __future__ import annotations

import pytest

from engine.llm.offline.names.runs import CAPITALIZED_RUN, is_no_name, split_run

RUNS = """
Mira T. Vosk => Mira T. Vosk
Plan B. Then => Plan B., Then
St. Orla => St. Orla
Orla District of Vesk Province of Norway => Orla District, Vesk Province, Norway
Museum of Small Finds => Museum of Small Finds
Figure 2 => none
Chapter XIV => none
Council for Small Boats => Council for Small Boats
Ministry of Tides and Salt Works => Ministry of Tides and Salt Works
Museum of Salt and Skelby Harbour => Museum of Salt, Skelby Harbour
Lamp for Skelby => Lamp, Skelby
Ember & Vosk => Ember & Vosk
Hannah & Vosk => Hannah, Vosk
Skelby School & Lamp House => Skelby School, Lamp House
Lantern Festival June 2024 => Lantern Festival
"""


@pytest.mark.parametrize("line", RUNS.strip().splitlines())
def test_a_run_is_cut_at_dates_references_and_nested_places(line: str) -> None:
    run, _, parts = line.partition(" => ")
    assert CAPITALIZED_RUN.fullmatch(run)
    assert ", ".join(part for part, _ in split_run(run)) == parts.replace("none", "")
    assert all(run[place:].startswith(part) for part, place in split_run(run))


def test_an_initial_after_a_cited_author_ends_a_name() -> None:
    assert [part for part, _ in split_run("Vosk E. Tides", "Arrend T, ")] == ["Vosk E.", "Tides"]
    assert [part for part, _ in split_run("Ebbe E. Vosk", "by ")] == ["Ebbe E. Vosk"]


@pytest.mark.parametrize(
    ("run", "before", "parts"),
    [("GB of Redis", "40 ", ["Redis"]), ("GB", "40 ", []), ("GB", "in ", ["GB"]), ("API", "40 ", ["API"])],
)
def test_a_unit_after_a_number_is_no_name(run: str, before: str, parts: list[str]) -> None:
    assert [part for part, _ in split_run(run, before)] == parts


@pytest.mark.parametrize("name", ["EUR", "Dollars", "Freitag", "mai 2024", "Mrs", "Inc", "President", "Q"])
def test_calendar_currency_and_lone_titles_are_no_names(name: str) -> None:
    assert is_no_name(name)


@pytest.mark.parametrize("name", ["Easter", "EURO 2024 Cup", "Ada", "API", "WHO", "Mrs. Vosk"])
def test_holidays_and_names_beside_such_words_are_names(name: str) -> None:
    assert not is_no_name(name)
