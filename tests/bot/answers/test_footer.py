"""Below an answer: sources with titles, links and short words, a note, buttons."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.answers.footer import build_answer_footer, build_answer_source, format_source_title
from engine.models import Source

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SOURCE = Source(
    number=1,
    document="slack:T1:ROOF:thread:m1",
    passage="m1",
    title="#roof: Tiles",
    label="Ada, 2026-11-20 12:00",
    link="https://chat.example/m1",
    author="Ada",
    time=NOON,
    text="[2026-11-20 12:00] Ada: Nails are there. The tiles come on Monday. Bob fetches them.",
    space="slack:T1:open",
    room="slack:T1:ROOF",
    chunk="c1",
)


def test_a_source_is_called_by_its_document_and_the_place_in_it() -> None:
    assert format_source_title(SOURCE) == "#roof: Tiles · Ada"


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("#roof: Messages of 2026-11-20 11:50–12:10", "#roof · Ada"),
        ("#roof: Messages of 2026-11-20 23:53–2026-11-21 00:03", "#roof · Ada"),
        ("#roof: Thread by Bob, 2026-11-19", "#roof: Thread by Bob · Ada"),
        ("#roof: Minutes of 2026-11-19", "#roof: Minutes of 2026-11-19 · Ada"),
    ],
)
def test_the_time_of_a_conversation_is_told_once(named: str, shown: str) -> None:
    assert format_source_title(replace(SOURCE, title=named)) == shown


def test_and_by_its_day_if_the_place_does_not_tell_it() -> None:
    assert format_source_title(replace(SOURCE, title="notes.pdf", label="p. 3")) == "notes.pdf · p. 3 · 2026-11-20"
    assert (
        format_source_title(replace(SOURCE, title="notes.pdf", label="notes.pdf › Nails", time=None))
        == "notes.pdf · Nails"
    )


def test_the_time_of_a_message_is_an_instant_and_that_of_a_document_a_day() -> None:
    assert build_answer_source(SOURCE, "").time == NOON
    assert build_answer_source(replace(SOURCE, title="notes.pdf", label="p. 3"), "").time is None
    (cited,) = build_answer_footer("a1", [build_answer_source(SOURCE, "")], [], private=False, share=False).sources
    assert cited.time == NOON


def test_its_words_begin_where_the_answer_draws_on_them() -> None:
    assert (
        build_answer_source(SOURCE, "The tiles come on Monday. [1]").excerpt
        == "… The tiles come on Monday. Bob fetches them."
    )


def test_its_words_say_not_twice_who_and_when() -> None:
    assert build_answer_source(SOURCE, "").excerpt.startswith("Nails are there.")


@pytest.mark.parametrize("link", ["file:///etc/passwd", "javascript:alert(1)", ""])
def test_only_addresses_of_the_web_are_links(link: str) -> None:
    assert build_answer_source(replace(SOURCE, link=link), "").link == ""


def test_nothing_in_it_calls_anybody_or_leads_elsewhere() -> None:
    planted = replace(
        SOURCE, title="@here [x](https://evil.example)", label="<!channel>", text="https://evil.example <@U1>"
    )
    shown = build_answer_source(planted, "")
    assert not any(
        bad in shown.title + shown.excerpt for bad in ("@here", "](https://", "<!channel>", "https://", "<@U1>")
    )


def test_long_ones_are_cut() -> None:
    shown = build_answer_source(replace(SOURCE, title="long " * 100, text="word " * 100), "")
    assert len(shown.title) <= 110
    assert len(shown.excerpt) <= 150


def test_it_lies_where_it_lies() -> None:
    shown = build_answer_source(SOURCE, "")
    assert (shown.document, shown.passage, shown.space, shown.room) == (
        "slack:T1:ROOF:thread:m1",
        "m1",
        "slack:T1:open",
        "slack:T1:ROOF",
    )


@pytest.mark.parametrize(
    ("private", "share", "sourced", "actions"),
    [
        (False, False, True, ["up", "down", "sources", "delete"]),
        (False, False, False, ["up", "down", "delete"]),
        (True, True, True, ["up", "down", "sources", "share"]),
        (True, False, True, ["up", "down", "sources"]),
    ],
)
def test_buttons_are_those_that_make_sense(*, private: bool, share: bool, sourced: bool, actions: list[str]) -> None:
    made = build_answer_footer(
        "a1", [build_answer_source(SOURCE, "")] if sourced else [], ["One.", "", "Two."], private=private, share=share
    )
    assert [each.action for each in made.buttons] == actions
    assert {each.value for each in made.buttons} == {"a1"}
    assert (made.answer, made.notice) == ("a1", "One. Two.")
