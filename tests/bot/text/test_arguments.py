from __future__ import annotations

import pytest

from bot.text.arguments import CommandArguments, parse_arguments
from engine.errors import InvalidQuestion

OPTIONS = ("with", "type")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"Ada L." "Ada Lovelace"', ("Ada L.", "Ada Lovelace")),
        ("“Ada L.” “Ada Lovelace”", ("Ada L.", "Ada Lovelace")),
        ("„Ada L.“ «Ada Lovelace»", ("Ada L.", "Ada Lovelace")),
        (r"Ada's c:\dir #roof", ("Ada's", r"c:\dir", "#roof")),
        ("Ada — Bob", ("Ada", "—", "Bob")),
    ],
)
def test_quotation_marks_of_all_keyboards_hold_words_together(text: str, words: tuple[str, ...]) -> None:
    assert parse_arguments(text).positional == words


@pytest.mark.parametrize("text", ['Ada --with "Charles B."', 'Ada --with="Charles B."', 'Ada —with "Charles B."'])
def test_an_option_has_the_words_behind_it(text: str) -> None:
    assert parse_arguments(text, OPTIONS) == CommandArguments(("Ada",), {"with": "Charles B."})


@pytest.mark.parametrize(
    ("text", "words"), [('"Ada', "not closed"), ("Ada --by Bob", "no option --by"), ("Ada --with", "needs a value")]
)
def test_a_line_that_cannot_be_parsed_is_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidQuestion, match=words):
        parse_arguments(text, OPTIONS)
