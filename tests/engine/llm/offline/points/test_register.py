"""Decisions and tasks are listed with who, until when and what replaced them, and with few false ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.llm.offline.points.register import Entry, list_entries
from tests.engine.llm.offline.points.test_watched import build_source

CASES = Path(__file__).with_name("register.txt")
MIN_PRECISION, MIN_RECALL = 0.9, 0.8


@dataclass(frozen=True)
class Labeled:
    """What the first message of a history is, and what is listed of it."""

    kind: str
    state: str
    who: str
    due: str
    text: str
    entry: Entry | None


def read_labeled() -> list[Labeled]:
    found = list[Labeled]()
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, state, who, due, messages = (part.strip() for part in line.split(" | "))
            sources = [build_source(at, said) for at, said in enumerate(messages.split(" / "))]
            entry = next((each for each in list_entries(sources) if each.source == sources[0]), None)
            found.append(Labeled(kind, state, who.strip("-"), due.strip("-"), messages, entry))
    return found


def test_nine_of_ten_entries_are_decisions_or_tasks_and_most_of_these_are_listed() -> None:
    labeled = read_labeled()
    listed = [labeled_ for labeled_ in labeled if labeled_.entry is not None]
    right = [labeled_ for labeled_ in listed if labeled_.entry is not None and labeled_.entry.kind == labeled_.kind]
    wrong = [
        labeled_.text for labeled_ in labeled if labeled_ not in right and (labeled_.entry or labeled_.kind != "none")
    ]
    assert len(right) / len(listed) >= MIN_PRECISION, wrong
    assert len(right) / sum(labeled_.kind != "none" for labeled_ in labeled) >= MIN_RECALL, wrong


def test_what_is_listed_says_who_until_when_and_whether_it_still_holds() -> None:
    listed = [
        (labeled, labeled.entry) for labeled in read_labeled() if labeled.entry is not None and labeled.kind != "none"
    ]
    wrong = [
        (label.text, entry.who, entry.due, entry.newer_text)
        for label, entry in listed
        if (entry.who, entry.due, bool(entry.replaced_by)) != (label.who, label.due, label.state == "replaced")
    ]
    assert len(wrong) <= len(listed) / 10, wrong
