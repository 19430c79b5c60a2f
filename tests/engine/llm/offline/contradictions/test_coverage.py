"""How many sources agree is said where several speak of one subject, and only then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.llm.offline.contradictions.coverage import Coverage, measure_coverage
from engine.models import Source

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def said(*lines: tuple[str, str]) -> list[Source]:
    """Messages by author and text, a day apart, each in a channel of its own."""
    found = []
    for number, (who, text) in enumerate(lines, 1):
        time, room = NOON + timedelta(days=number), f"slack:T1:R{number}"
        line = f"[{time:%Y-%m-%d %H:%M}] {who}: {text}"
        found.append(Source(number, f"{room}:window:1", "m", "#", "", "", who, time, line, room, room, "", number))
    return found


FIVE, SIX = "The mail relay has 5 GB of memory.", "The mail relay has 6 GB of memory."


def test_sources_of_several_people_agree_and_one_disagrees() -> None:
    sources = said(("Ada", FIVE), ("Bob", FIVE), ("Cleo", SIX), ("Dan", FIVE))
    assert measure_coverage(sources) == Coverage(3, 1, NOON + timedelta(days=4), "5 GB")
    assert measure_coverage(sources, {3}) == Coverage(3, 0, NOON + timedelta(days=4), "5 GB")


def test_one_person_counts_once_and_agrees_not_with_themselves() -> None:
    assert measure_coverage(said(("Ada", FIVE), ("Ada", FIVE))) is None
    assert measure_coverage(said(("Ada", FIVE), ("Ada", SIX))) is None


def test_sources_about_different_things_are_nothing_telling() -> None:
    assert measure_coverage(said(("Ada", FIVE), ("Bob", "The print relay has 6 GB of memory."))) is None
    assert measure_coverage(said(("Ada", FIVE), ("Bob", "Does the mail relay have 6 GB of memory?"))) is None
