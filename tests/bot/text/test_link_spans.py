"""The constructs that a message may not be cut in."""

from __future__ import annotations

import pytest

from bot.text.splitting import MAX_LABEL_LENGTH, MAX_URL_LENGTH, find_link_spans


@pytest.mark.parametrize(
    "link",
    ["[[1]](https://a.example)", "[x](https://a.example/b_(c))", "<https://a.example>", "`a [b`", '[x](a "b c")'],
)
def test_a_whole_link_is_one_span(link: str) -> None:
    assert (2, 2 + len(link)) in find_link_spans(f"a {link} b").links


@pytest.mark.parametrize("begun", ["[", "[[", "[[1", "[[1]", "[[1]]", "[[1]](", "[a](https://a.exa", "<https", "`a b"])
def test_an_unfinished_one_is_told_by_its_beginning(begun: str) -> None:
    assert find_link_spans(f"a {begun}").unfinished[0] == 2


@pytest.mark.parametrize(
    "text",
    [
        "\\[a",
        "[a\n\nb",
        "[" + "a" * (MAX_LABEL_LENGTH + 1),
        f"<{'a' * (MAX_URL_LENGTH + 1)}",
        "a ] b",
        "[a](https://a.example) b",
    ],
)
def test_what_is_no_link_begins_none(text: str) -> None:
    assert find_link_spans(text).unfinished == []
