"""The numbers in an answer lead to what they cite."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.answers.sources.citation_links import link_citations
from bot.text.splitting import split_message, stable_parts

LINKS = {1: "https://chat.example/C1/p1", 2: "https://chat.example/C1/p2"}
ONE, TWO = (f"[[{number}]]({link})" for number, link in LINKS.items())
WORDS = ["[1]", "[2]", "[3]", " ", "word", "`a[1]` ", "\n```\nx[1]\n```\n", ".", "\n\n", "[x](https://ok.example)", "!"]


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


@example("[1]" * 12 + "[3]" * 12 + "\n```\nx[1]\n```\n" + "[1]" * 5)
@given(st.lists(st.sampled_from(WORDS), min_size=30, max_size=80).map("".join))
def test_no_link_is_cut_between_two_messages(text: str) -> None:
    whole = link_citations(text, LINKS)
    for pages in (split_message(whole, 200), stable_parts(whole, 200)):
        for page in pages:
            assert len(page) <= 200
            assert page.count("](http") == page.count(ONE) + page.count(TWO) + page.count("[x](https://ok.example)")
