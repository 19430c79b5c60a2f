"""Sources below an answer with titles, links and excerpts, and its buttons."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.answers.footer import build_answer_footer, build_answer_source, format_source_title, link_citations
from bot.text.splitting import split_message, stable_parts
from tests.support.builders import make_source
from tests.support.fake_platform import START

TEXT = "[2026-11-20 10:00] Ada: Nails are there. The tiles come on Monday. Bob fetches them."
PAGE: dict[str, Any] = {"title": "notes.pdf", "label": "p. 3"}

LINKS = {1: "https://chat.example/C1/p1", 2: "https://chat.example/C1/p2"}
ONE, TWO = (f"[[{number}]]({link})" for number, link in LINKS.items())
WORDS = ["[1]", "[2]", "[3]", " ", "word", "`a[1]` ", "\n```\nx[1]\n```\n", ".", "\n\n", "[x](https://ok.example)", "!"]


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({"title": "#roof: Tiles"}, "#roof: Tiles · Ada"),
        ({"title": "#roof: Messages of 2026-11-20 11:50–12:10"}, "#roof · Ada"),
        ({"title": "#roof: Messages of 2026-11-20 23:53–2026-11-21 00:03"}, "#roof · Ada"),
        ({"title": "#roof: Thread by Bob, 2026-11-19"}, "#roof: Thread by Bob · Ada"),
        ({"title": "#roof: Minutes of 2026-11-19"}, "#roof: Minutes of 2026-11-19 · Ada"),
        (PAGE, "notes.pdf · p. 3 · 2026-11-20"),
        ({"title": "notes.pdf", "label": "notes.pdf › Nails", "time": None}, "notes.pdf · Nails"),
        ({"title": "Fair (town.example, read 2026-11-20)", "label": "Fair"}, "Fair (town.example, read 2026-11-20)"),
    ],
)
def test_a_title_names_document_place_and_day_once(changes: dict[str, Any], title: str) -> None:
    assert format_source_title(make_source(**changes)) == title


def test_a_message_has_a_time_and_a_document_a_day() -> None:
    cited = build_answer_source(make_source(), "")
    assert (cited.time, build_answer_source(make_source(**PAGE), "").time) == (START, None)
    [shown] = build_answer_footer("a1", [cited], [], private=False, share=False).sources
    assert shown.time == START
    assert (cited.document, cited.passage, cited.space, cited.room) == (
        *("slack:T1:ROOF:window:m1", "m1"),
        *("slack:T1:open", "slack:T1:ROOF"),
    )


def test_an_excerpt_begins_where_the_answer_draws_on_it_without_author_and_time() -> None:
    source = make_source(text=TEXT)
    drawn = build_answer_source(source, "The tiles come on Monday. [1]").excerpt
    assert drawn == "… The tiles come on Monday. Bob fetches them."
    assert build_answer_source(source, "").excerpt.startswith("Nails are there.")


@pytest.mark.parametrize("link", ["file:///etc/passwd", "javascript:alert(1)", ""])
def test_only_web_addresses_are_links(link: str) -> None:
    assert build_answer_source(make_source(link=link), "").link == ""


def test_a_source_mentions_nobody_and_holds_no_link() -> None:
    planted = {"title": "@here [x](https://evil.example)", "label": "<!channel>", "text": "https://evil.example <@U1>"}
    shown = build_answer_source(make_source(**planted), "")
    bad = ("@here", "](https://", "<!channel>", "https://", "<@U1>")
    assert not any(text in shown.title + shown.excerpt for text in bad)


def test_long_titles_and_excerpts_are_cut() -> None:
    shown = build_answer_source(make_source(title="long " * 100, text="word " * 100), "")
    assert (len(shown.title) <= 110, len(shown.excerpt) <= 150) == (True, True)


@pytest.mark.parametrize(
    ("private", "share", "sourced", "actions"),
    [
        (False, False, True, ["up", "down", "sources"]),
        (False, False, False, ["up", "down"]),
        (True, True, True, ["up", "down", "share"]),
        (True, False, True, ["up", "down", "sources"]),
    ],
)
def test_buttons_are_those_that_make_sense(*, private: bool, share: bool, sourced: bool, actions: list[str]) -> None:
    sources = [build_answer_source(make_source(), "")] if sourced else []
    made = build_answer_footer("a1", sources, ["One.", "", "Two."], private=private, share=share)
    assert [button.action for button in made.buttons] == actions
    assert {button.value for button in made.buttons} == {"a1"}
    assert (made.answer, made.notice) == ("a1", "One. Two.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It leaks [1][2].", f"It leaks {ONE}{TWO}."),
        ("No page [3], a year [2019] and `a[1]`.", "No page [3], a year [2019] and `a[1]`."),
        ("```\na[1]\n```\n[1]", f"```\na[1]\n```\n{ONE}"),
        ("``` a[1] never closed", f"``` a{ONE} never closed"),
        ("Great![1]", f"Great! {ONE}"),
    ],
)
def test_numbers_become_links_outside_of_code(text: str, expected: str) -> None:
    assert link_citations(text, LINKS) == expected


def test_without_addresses_nothing_changes() -> None:
    assert link_citations("It leaks [1].", {}) == "It leaks [1]."


@given(st.lists(st.sampled_from(WORDS), max_size=20))
def test_a_longer_text_gives_a_longer_one(pieces: list[str]) -> None:
    results = [link_citations(text, LINKS) for text in accumulate(pieces)]
    assert all(later.startswith(earlier) for earlier, later in pairwise(results))


@settings(max_examples=40)
@example("[1]" * 12 + "[3]" * 12 + "\n```\nx[1]\n```\n" + "[1]" * 5)
@given(st.lists(st.sampled_from(WORDS), min_size=30, max_size=80).map("".join))
def test_no_link_is_cut_between_two_messages(text: str) -> None:
    whole = link_citations(text, LINKS)
    for pages in (split_message(whole, 200), stable_parts(whole, 200)):
        for page in pages:
            assert len(page) <= 200
            assert page.count("](http") == page.count(ONE) + page.count(TWO) + page.count("[x](https://ok.example)")
