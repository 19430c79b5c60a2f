"""Long texts become parts: nothing is lost, fences stay whole, what was shown is never taken back."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.text import splitting
from bot.text.splitting import MAX_LABEL_LENGTH, MAX_URL_LENGTH, find_link_spans

FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
PIECES = st.sampled_from(
    [
        *("word ", "a. ", "Что? ", "日本。", "\n", "\n\n", " ", "x" * 40, "y" * 300, "😀" * 30, "é "),
        *("[1]", "[23]", "[the words](https://a.example/x)", "`code` ", "``", "`", "- item\n", "~50 "),
        *(
            "<https://b.example>",
            "\n```python\n",
            "\n```\n",
            "```",
            "\n~~~\n",
            "  ```js\n",
            "print(1)\n",
            "> ```\n",
            "````md\n",
            "````\n",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)
LIMITS = st.integers(128, 700)


WHOLE = [
    "[[1]](https://chat.example/C1/p1)",
    "[the words](https://ok.example/a_(b)?c)",
    "[a [b] c](https://ok.example)",
    "[a\\]b](https://ok.example)",
    "[`a]`](https://ok.example)",
    '[words](https://ok.example "a title")',
    "[over\nlines](https://ok.example)",
    "<https://ok.example/x>",
    "`code with spaces`",
]
LINKING = [
    *WHOLE,
    *("[", "]", "](", "!", "<", "`", "```", "\\", "(http://a", '"', ' "t"', "\n", "\n> ", "word ", "x" * 40),
]


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def plain(text: str) -> str:
    """All characters but those of fence lines and white space."""
    return "".join(FENCE.sub("", text).split())


@given(TEXTS, LIMITS)
def test_the_parts_hold_the_whole_text(text: str, limit: int) -> None:
    pages = list(splitting._split_raw(text, limit))
    assert "".join("".join(raw for _, raw in pages).split()) == "".join(text.split())
    assert splitting.split_message(text, limit) == tuple(splitting.close_fence(opening + raw) for opening, raw in pages)


@given(
    st.lists(st.sampled_from(["word ", "one. ", "\n", "\n\n", "x" * 70, "😀 ", "é", "[1] "]), max_size=300).map("".join)
)
def test_without_code_the_parts_are_the_text_itself(text: str) -> None:
    assert "".join("".join(splitting.split_message(text, 200)).split()) == "".join(text.split())


@given(TEXTS, LIMITS)
def test_no_part_is_too_long_or_empty(text: str, limit: int) -> None:
    for part in (*splitting.split_message(text, limit), *splitting.stable_parts(text, limit)):
        assert units(part) <= limit
        assert part.strip()


@given(TEXTS, LIMITS)
def test_every_fence_is_closed_within_its_part(text: str, limit: int) -> None:
    for part in splitting.split_message(text, limit):
        assert splitting.open_fence(part) is None


@given(TEXTS, LIMITS, st.data())
def test_what_was_shown_only_grows(text: str, limit: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    earlier, later = splitting.stable_parts(text[:at], limit), splitting.stable_parts(text, limit)
    last = len(earlier) - 1
    assert earlier[:last] == later[: max(0, last)]
    for whole in (later, splitting.split_message(text, limit)):
        assert not earlier or whole[last].startswith(earlier[last].rstrip("\n"))


@given(st.integers(130, 260), st.integers(0, 200))
def test_a_citation_is_never_cut(limit: int, before: int) -> None:
    text = "x" * before + "".join(f"[{n}]" for n in range(100))
    for part in splitting.split_message(text, limit):
        assert re.sub(r"\[\d+\]", "", part).strip("x") == ""


@pytest.mark.share(3)
@pytest.mark.parametrize("link", WHOLE)
@pytest.mark.parametrize("before", ["", "[", "[a [b", "`[` ", "\\[", "\n```\nx[1\n```\n", "[1]", "](", "!"])
def test_no_form_of_a_link_is_cut_wherever_it_stands(link: str, before: str) -> None:
    for size in range(140, 300, 7):
        text = "x" * size + before + link + " word" * 40
        assert sum(part.count(link) for part in splitting.split_message(text, 300)) == 1


@pytest.mark.long
def test_a_long_address_goes_to_the_next_part() -> None:
    link = f"[the form](https://ok.example/{'a' * 900})"
    for size in range(900, 2000, 130):
        text = "word " * (size // 5) + link + " word" * 400
        assert sum(part.count(link) for part in splitting.split_message(text, 2000)) == 1
        shown = [splitting.stable_parts(text[:end], 2000) for end in range(0, len(text), 97)]
        for earlier, later in pairwise(shown):
            assert all(new.startswith(old) for old, new in zip(earlier, later, strict=False))


@settings(max_examples=30)
@given(st.lists(st.sampled_from(LINKING), max_size=40).map("".join), LIMITS)
def test_a_text_of_broken_links_only_grows(text: str, limit: int) -> None:
    earlier: tuple[str, ...] = ()
    for end in range(len(text) + 1):
        later = splitting.stable_parts(text[:end], limit)
        assert all(new.startswith(old.rstrip("\n")) for old, new in zip(earlier, later, strict=False))
        assert len(later) >= len(earlier)
        earlier = later


def test_halves_of_a_character_stay_together() -> None:
    for part in splitting.split_message("😀" * 500, 150):
        part.encode()
    for part in splitting.split_message("\ud83d\ude00" * 500, 151):
        assert part.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def test_a_cut_fence_is_opened_again_with_its_language() -> None:
    text = "Look:\n```python\n" + "print('hello, world')\n" * 30 + "```\nThat was it."
    first, *middle, last = splitting.split_message(text, 300)
    assert first.startswith("Look:\n```python\n")
    assert first.endswith("\n```")
    assert all(part.startswith("```python\nprint(") and part.endswith("\n```") for part in middle)
    assert last.startswith("```python\nprint(")
    assert last.endswith("That was it.")


def test_a_part_ends_at_a_paragraph_if_there_is_one_near_its_end() -> None:
    text = "word " * 30 + "\n\nSecond. " + "word " * 30
    assert splitting.split_message(text, 200) == ("word " * 30 + "\n\n", "Second. " + "word " * 30)


@pytest.mark.parametrize(("near", "end"), [("a sentence. ", ". "), ("\n", "\n"), ("", "d ")])
def test_else_at_a_line_a_sentence_or_a_word(near: str, end: str) -> None:
    assert splitting.split_message("word " * 32 + near + "word " * 40, 200)[0].endswith(end)


def test_a_short_text_is_one_part_and_an_empty_one_none() -> None:
    assert splitting.split_message("All is well. [1]", 2000) == ("All is well. [1]",)
    assert splitting.split_message("", 2000) == splitting.stable_parts(" \n", 2000) == ()


@pytest.mark.parametrize("line", ["`", "``", "```", "```pyth", "  ```", "> ```", "~~"])
def test_a_fence_line_is_held_back_until_it_is_whole(line: str) -> None:
    assert splitting.stable_parts("Look:\n" + line, 2000) == ("Look:\n",)


def test_the_last_part_s_fence_is_left_open_so_that_it_can_grow() -> None:
    assert splitting.stable_parts("```python\nprint(1)", 2000) == ("```python\nprint(1)",)
    assert splitting.close_fence("```python\nprint(1)") == "```python\nprint(1)\n```"


@pytest.mark.parametrize(
    ("now", "last", "wait"),
    [(100.0, None, 0.0), (100.5, 100.0, 0.2), (101.5, 100.0, 0.0)],
    ids=["first", "soon", "late"],
)
def test_a_write_waits_for_its_turn(now: float, last: float | None, wait: float) -> None:
    assert splitting.seconds_until_write(now, last, 0.7) == pytest.approx(wait)


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
