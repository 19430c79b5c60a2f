"""What a standing request waits for is recognized with few false alarms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.llm.offline.points import watched
from engine.llm.offline.points.watched import WatchedSources, WatchKind, parse_subject
from engine.models import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate

START = datetime(2026, 4, 6, 9, tzinfo=UTC)
CASES = Path(__file__).with_name("watched.txt")
MIN_PRECISION, MIN_RECALL = 0.9, 0.8


@dataclass(frozen=True)
class History:
    """Messages in one channel, and whether the last one is what is waited for."""

    kind: WatchKind
    subject: str
    sources: tuple[Source, ...]
    is_event: bool


def read_histories() -> list[History]:
    found = list[History]()
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, subject, messages, wanted = (part.strip() for part in line.split(" | "))
            sources = tuple(build_source(at, said) for at, said in enumerate(messages.split(" / ")))
            found.append(History(kind, subject, sources, wanted == "yes"))  # type: ignore[arg-type]
    return found


def build_source(at: int, said: str) -> Source:
    speaker, _, text = said.partition(": ")
    time = START + timedelta(days=at)
    line = f"[{time:%Y-%m-%d %H:%M}] {speaker}: {text}"
    return Source(at + 1, "d", f"m{at}", "#yard", "", "", speaker, time, line, "s", "r", "c", at)


def finds(history: History) -> bool:
    return bool(WatchedSources(history.sources).list_events(history.kind, history.subject, history.sources[-1:]))


def test_nine_of_ten_reported_events_happened_and_most_that_happened_are_reported() -> None:
    histories = read_histories()
    assert len(histories) >= 60
    reported = [history for history in histories if finds(history)]
    right = [history for history in reported if history.is_event]
    wrong = [history for history in histories if finds(history) != history.is_event]
    told = [f"{history.kind} {history.subject}: {history.sources[-1].text} {history.is_event}" for history in wrong]
    assert len(right) / len(reported) >= MIN_PRECISION, told
    assert len(right) / sum(history.is_event for history in histories) >= MIN_RECALL, told


def test_statements_are_compared_only_where_a_subject_is_named_and_one_is_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = list[int]()

    def compare(candidates: Sequence[Candidate]) -> dict[int, int]:
        compared.append(len(candidates))
        return {}

    monkeypatch.setattr(watched, "find_replaced", compare)
    said = [build_source(at, f"Ada: Part {at} of the mill costs {at} euros.") for at in range(80)]
    WatchedSources(said).list_events("changed", "rent of the barn")
    file = [replace(source, time=START, author="") for source in said]
    WatchedSources(file).list_events("changed", "mill")
    assert compared == []
    WatchedSources([*said, build_source(80, "Bob: The rent of the barn is 9 euros.")]).list_events("changed", "barn")
    assert compared == [watched.MAX_COMPARED + 1]


@pytest.mark.parametrize(
    ("words", "named", "kinds"),
    [
        ("the release date", "release", {"date", "time"}),
        ("the deadline", "the deadline", {"date", "time"}),
        ("the rent", "the rent", {"money", "number"}),
        ("orchard fence", "orchard fence", set()),
    ],
)
def test_a_word_for_a_kind_of_values_is_no_word_of_a_subject_that_has_others(
    words: str, named: str, kinds: set[str]
) -> None:
    subject = parse_subject(words)
    assert subject.words == named
    assert subject.kinds == kinds
