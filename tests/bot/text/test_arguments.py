from __future__ import annotations

import pytest

from bot.text.arguments import CommandArguments, parse_arguments
from engine.errors import InvalidQuestion

OPTIONS = ("with", "type")


@pytest.mark.parametrize(
    "text",
    [
        '"Ada L." "Ada Lovelace"',
        "“Ada L.” “Ada Lovelace”",
        "„Ada L.“ «Ada Lovelace»",
    ],
)
def test_quotation_marks_of_all_keyboards_hold_words_together(text: str) -> None:
    assert parse_arguments(text).positional == ("Ada L.", "Ada Lovelace")


def test_apostrophes_backslashes_and_number_signs_are_letters() -> None:
    assert parse_arguments(r"Ada's c:\dir #roof").positional == ("Ada's", r"c:\dir", "#roof")


@pytest.mark.parametrize("text", ['Ada --with "Charles B."', 'Ada --with="Charles B."', 'Ada —with "Charles B."'])
def test_an_option_has_the_words_behind_it(text: str) -> None:
    assert parse_arguments(text, OPTIONS) == CommandArguments(("Ada",), {"with": "Charles B."})


def test_a_lone_dash_is_a_word() -> None:
    assert parse_arguments("Ada — Bob").positional == ("Ada", "—", "Bob")


@pytest.mark.parametrize(
    ("text", "told"), [('"Ada', "not closed"), ("Ada --by Bob", "no option --by"), ("Ada --with", "needs a value")]
)
def test_what_cannot_be_read_is_told(text: str, told: str) -> None:
    with pytest.raises(InvalidQuestion, match=told):
        parse_arguments(text, OPTIONS)
