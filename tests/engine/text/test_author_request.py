"""Which questions want a summary of what somebody said, and of whom."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.models import Question, Scope
from engine.text.overviews import by_author, channel_of, match_authors

NOW = datetime(2026, 6, 17, 15, 0, tzinfo=UTC)  # a Wednesday
HERE = Scope(frozenset({"here"}), frozenset())


def question(text: str) -> Question:
    return Question(text, HERE, asker="Ines Dalgarno")


@pytest.mark.parametrize(
    ("text", "writers"),
    [
        ("Summarise what Ada said", ("Ada",)),
        ("summarize what @Ada Lovell wrote in this channel please", ("@Ada Lovell",)),
        ("Summarise everything that Ada has posted here", ("Ada",)),
        ("Please summarise what Ada Lovell said last week.", ("Ada Lovell",)),
        ("Can you summarise what ada was saying yesterday?", ("ada",)),
        ("Summarise what Ada said in #workshop", ("Ada",)),
        ("What did Ada say last week?", ("Ada",)),
        ("what has Ada posted in #workshop", ("Ada",)),
        ("recap of Ada's messages", ("Ada",)),
        ("Summarise the messages by Ada since Monday", ("Ada",)),
        ("What did Ada say two days ago?", ("Ada",)),
        ("Summarise the messages from Ada 3 days ago", ("Ada",)),
        ("¿Qué dijo Ada hace dos días?", ("Ada",)),
        ("Summarise what I said today", ("Ines Dalgarno",)),
        ("Summarise what Ada and Bob said this week", ("Ada and Bob",)),
        ("Fasse zusammen, was Ada gesagt hat", ("Ada",)),
        ("Was hat Ada hier geschrieben?", ()),
        ("Résume ce qu'Ada a dit", ("Ada",)),
    ],
)
def test_what_somebody_said_is_an_overview_of_their_messages(text: str, writers: tuple[str, ...]) -> None:
    asked, overview = by_author(question(text), NOW)
    assert asked.writers == writers
    assert (overview is not None and overview.overview.kind == "summary") == bool(writers)


@pytest.mark.parametrize(
    ("text", "since", "channel"),
    [
        ("Summarise what Ada said about the lifeboat", None, ""),
        ("Summarise what Ada said about the lifeboat last week", datetime(2026, 6, 8, tzinfo=UTC), ""),
        ("Summarise what Ada said about the lifeboat 3 days ago", datetime(2026, 6, 14, tzinfo=UTC), ""),
        ("Summarise what Ada said yesterday about the fair in May", datetime(2026, 6, 16, tzinfo=UTC), ""),
        ("Summarise what Ada said about the May fair in #workshop", None, "workshop"),
    ],
)
def test_a_subject_is_searched_for_in_their_messages(text: str, since: datetime | None, channel: str) -> None:
    asked, overview = by_author(question(text), NOW)
    assert overview is None
    assert (asked.writers, asked.text) == (("Ada",), text)
    assert (asked.filters.since, channel_of(asked)) == (since, channel)


OTHERS = (
    "What did Ada say about the lifeboat? | Who said that Ada left? | Summarise what was said about the lifeboat"
    " | Summarise what the council said about the roof | Summarise what people said about the roof"
    " | Summarise what everyone said | Summarise what got posted today | Summarise what customers wrote about the price"
    " | Summarise what she said | Summarise this channel | What was decided lately? | What did Ada miss?"
)


@pytest.mark.parametrize("text", [*OTHERS.split(" | "), "Summarise what Ada said. " * 20, ""])
def test_any_other_question_is_about_no_author(text: str) -> None:
    assert by_author(question(text), NOW)[0].writers == ()


def test_i_is_no_author_if_the_asker_is_unknown() -> None:
    assert by_author(Question("Summarise what I said", HERE), NOW)[0].writers == ()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ada", ["Ada Lovell"]),
        ("@Ada Lovell", ["Ada Lovell"]),
        ("Bob", ["Bob"]),
        ("miles", ["Bob Miles", "Bob-Miles (ops)"]),
        ("Lov", []),
        ("Ines", ["Ines"]),
        ("?", []),
    ],
)
def test_people_are_found_by_their_whole_name_or_by_words_of_it(name: str, found: list[str]) -> None:
    assert match_authors(name, ["Ada Lovell", "Bob", "Bob Miles", "Bob-Miles (ops)", "Ines", "…"]) == found
