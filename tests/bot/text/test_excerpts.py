from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.text.excerpts import EXCERPT_LENGTH, build_excerpt, lines_citing, truncate_line

TEXT = "PERMITS IN FORCE\nPermit 11-A is held by Casimir. Permit 17-B is held by Odile.\nPermit 20-C is free."


def test_a_source_is_quoted_from_the_sentence_that_the_answer_draws_on() -> None:
    assert (
        build_excerpt(TEXT, "It is Odile who holds 17-B [1].") == "… Permit 17-B is held by Odile. Permit 20-C is free."
    )


def test_a_source_is_quoted_from_its_beginning_if_nothing_is_alike() -> None:
    assert build_excerpt(TEXT, "zebra").startswith("PERMITS IN FORCE Permit 11-A")
    assert build_excerpt(TEXT).startswith("PERMITS IN FORCE")


def test_only_the_lines_that_cite_a_number_count_for_it() -> None:
    assert lines_citing("One [1].\nTwo [2] and [1].\nThree [11].", 1) == "One [1].\nTwo [2] and [1]."


def test_what_is_too_long_ends_at_a_word() -> None:
    assert truncate_line("one two three", 9) == "one two …"
    assert truncate_line("one\n two", 9) == "one two"


@given(st.text(), st.text())
def test_a_quote_is_one_line_of_bounded_length(text: str, about: str) -> None:
    made = build_excerpt(text, about)
    assert len(made) <= EXCERPT_LENGTH + 4
    assert "\n" not in made
