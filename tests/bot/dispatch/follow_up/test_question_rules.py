"""Follow-ups by rules, measured on messages in several styles and languages.

`first.jsonl` was used to write the rules; `second.jsonl` was written afterwards, in other styles. Its figures before
any change to the rules: precision 1.0, recall 0.94. `third.jsonl` holds what is hard: people called in other ways than
by a comma, requests that are none, questions that people ask each other, and questions that look like these: precision
0.36, recall 0.88 before the rules were mended by it. `fourth.jsonl` was written after that, of the same kinds:
precision 0.86, recall 0.81 before any further change.

`fifth.jsonl` to `eleventh.jsonl` are in ten further styles and in six languages, with names that nobody knows; each was
written before the rules were changed by it. Precision and recall before that: fifth 0.98 and 0.89, sixth 0.94 and 0.77,
seventh 0.91 and 0.87, eighth 0.89 and 0.89, ninth 0.83 and 0.87, tenth 0.81 and 0.91, eleventh 0.92 and 0.96.

`twelfth.jsonl` and `thirteenth.jsonl` are of engineers, choirs, a shop floor, nurses, players, people who learn the
language. Before the rules were changed by them: twelfth 0.90 and 0.94; thirteenth 0.82 and 0.96 (0.69 and 0.96 by the
rules before those that the twelfth led to). What the rules miss there still was left alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.dispatch.follow_up.question_rules import classify_message, is_small_talk

HERE = Path(__file__).parent / "follow_ups"
PEOPLE = {
    "first": ("Ada Lovell", "Bob Lattimer", "Ines Dalgarno", "Hob", "Jürgen"),
    "second": ("Marta Diaz", "Sam Okafor", "Priya", "Dana"),
    "fourth": ("Marie Curie", "Oskar", "Femi Ade", "Mark"),
    "third": ("Nora Feld", "Emil", "Priti"),
    "fifth": ("Lena Brandt", "Raj", "Bob Miles"),
    "sixth": ("Aylin Kaya", "Noah"),
    "seventh": ("Hassan Amin", "Timo"),
    "eighth": ("Fatima Noor", "Ben"),
    "ninth": ("Dinesh", "Uta Kern"),
    "tenth": ("Linh Tran", "Oli"),
    "eleventh": ("Omar", "Katja Wolf"),
    "twelfth": ("Grete Holm", "Tomasz"),
    "thirteenth": ("Pia Roth", "Ravi"),
}
PRECISION, RECALL = 0.95, 0.8
UNSEEN = {"thirteenth": 0.85}  # the precision of what few rules were written by


def rows(part: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]


def answered(part: str) -> list[tuple[bool, bool, str]]:
    """Whether it should be answered, whether it is, and the text."""
    return [
        (row["answer"], classify_message(row["text"], PEOPLE[part]) == "question", row["text"]) for row in rows(part)
    ]


@pytest.mark.parametrize("part", sorted(PEOPLE))
def test_questions_are_told_from_everything_else(part: str) -> None:
    found = answered(part)
    right = sum(wanted and given for wanted, given, _ in found)
    precision, recall = right / sum(given for _, given, _ in found), right / sum(wanted for wanted, _, _ in found)
    print(f"{part}: {len(found)} messages, precision {precision:.2f}, recall {recall:.2f}")  # noqa: T201 - with -s
    missed = [text for wanted, given, text in found if wanted != given]
    assert precision >= UNSEEN.get(part, PRECISION), missed
    assert recall >= RECALL, missed


def test_the_messages_are_many_and_of_many_kinds() -> None:
    every = [row for part in PEOPLE for row in rows(part)]
    assert len({row["text"] for row in every}) == len(every) >= 200
    assert len({row["kind"] for row in every}) >= 15
    assert 0.4 <= sum(row["answer"] for row in every) / len(every) <= 0.6


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Bob, who pays?", "others"),
        ("Bob?", "others"),
        ("And Bob?", "question"),
        ("What did Bob promise?", "question"),
        ("What did <@U1> promise in May?", "question"),
        ("What did you promise, <@U1>?", "others"),
        ("Threadlore, who pays?", "question"),
        ("The roof? Never again.", "unclear"),
        ("Thanks! Who pays?", "question"),
        ("The ferry leaves at seven.", "unclear"),
    ],
)
def test_who_is_named_decides_to_whom_it_is_said(text: str, verdict: str) -> None:
    assert classify_message(text, ("Bob Lattimer",)) == verdict


@pytest.mark.parametrize("text", ["and on Sundays", "really, at noon?", "The blue one?", "Who?"])
def test_after_somebody_else_spoke_only_a_whole_question_is_one_to_the_bot(text: str) -> None:
    assert classify_message(text, interrupted=True) != "question"
    assert classify_message("Who pays for the roof?", interrupted=True) == "question"


@pytest.mark.parametrize("text", ["thanks!", "👍", "ok cool", "Danke dir!", ":tada:"])
def test_thanks_and_signs_are_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize("text", ["", "really?", "who cares?", "https://example.org", "`make test`", "the roof"])
def test_what_may_be_asked_about_is_none(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "? " * 50_000, "<@" * 50_000, "`" * 99_999, ":a" * 50_000, "“" * 99_999]
)
def test_a_long_message_is_not_looked_at_as_a_whole(text: str) -> None:
    classify_message(text, ("Ada",))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("締め切りはいつですか", "question"),
        ("田中さん、電話してもらえますか？", "others"),
        ("田中さんはいつ来ますか", "question"),
        ("要点をまとめてください", "question"),
        ("一緒に行きませんか？", "others"),
        ("そうですか", "chatter"),
        ("明日にしようかな", "unclear"),
        ("这个什么时候开始", "question"),
        ("ist das schon entschieden", "question"),
        ("ist das nicht schön", "chatter"),
        ("ça ferme quand", "question"),
        ("je ne sais pas quand", "unclear"),
        ("I was wondering whether the pool is open", "question"),
        ("I was wondering if you could call them", "unclear"),
        ("I was wondering the same", "unclear"),
        ("marta me llamas luego?", "unclear"),
        ("Where is the entrance if you come by bike?", "question"),
    ],
)
def test_questions_without_a_mark_are_told_in_several_languages(text: str, verdict: str) -> None:
    assert classify_message(text) == verdict


@pytest.mark.parametrize("text", ["日曜も？", "場所は？"])
def test_in_unspaced_scripts_too_only_a_whole_question_interrupts(text: str) -> None:
    assert classify_message(text) == "question"
    assert classify_message(text, interrupted=True) == "unclear"
