"""Whether a message names a person, also one whose name is a word or a month."""

from __future__ import annotations

import pytest

from engine.llm.offline.points.named import build_name_test

NAMED = [
    ("Anna Berg", "anna, can you order the tiles?"),
    ("Anna Berg", "The tiles are with Anna."),
    ("Will Penn", "Will, can you order the tiles?"),
    ("Will Penn", "Can you order the tiles, Will?"),
    ("Will Penn", "The tiles are with Will now."),
    ("Will Penn", "@will when do the tiles come?"),
    ("Will Penn", "when does will penn come?"),
    ("May Lund", "Thanks May, that helps."),
    ("May Lund", "Hi May! Do the tiles fit?"),
    ("Mark Holm", "I think Mark knows it."),
    ("佐藤 健", "佐藤さん、鍵はどこですか？"),
]
NOT_NAMED = [
    ("Will Penn", "Will the tiles arrive on Friday?"),
    ("Will Penn", "When will the tiles arrive?"),
    ("May Lund", "May I take the ladder on Friday?"),
    ("May Lund", "Who comes on the trip in May?"),
    ("May Lund", "The trip is on 4 May."),
    ("Mark Holm", "Mark the day in the calendar, please."),
    ("Mark Holm", "Did you mark the boxes?"),
    ("June Ray", "Shall we meet in June?"),
    ("Anna Berg", "The banana boxes are here."),
    ("", "Will the tiles arrive?"),
]


@pytest.mark.parametrize(("person", "text"), NAMED)
def test_a_person_is_named(person: str, text: str) -> None:
    assert build_name_test(person)(text)


@pytest.mark.parametrize(("person", "text"), NOT_NAMED)
def test_a_word_or_a_month_is_not_a_person(person: str, text: str) -> None:
    assert not build_name_test(person)(text)
