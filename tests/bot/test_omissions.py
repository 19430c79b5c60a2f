from __future__ import annotations

import pytest

from bot.i18n import use_language
from bot.texts.omissions import describe_gaps, describe_omissions, is_worth_a_notice
from engine.models import Omission
from engine.parsers.base import IS_PICTURE, NO_OCR, SIGNATURE
from tests.support.builders import make_listed


def test_what_was_not_read_is_said_in_a_sentence() -> None:
    deck = make_listed("k", omissions=(Omission("slide 9", IS_PICTURE),), coverage="14 of 15 slides")
    gaps = describe_omissions(deck)
    assert describe_gaps("fleet.pptx", gaps) == (
        "I read fleet.pptx, but only 14 of 15 slides were read; slide 9: it holds a picture."
    )
    with use_language("de"):
        assert "Bild" in describe_omissions(deck)


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        ("0 of 1 slide", "some of it was not read; p"),
        ("0 of 3 pages", "none of its 3 pages were read; p"),
        ("1 of 1,500 files", "some of it was not read; p"),
        ("1 of 2 chapters", "only 1 of 2 chapters was read; p"),
        ("2 of 1500 files", "only 2 of 1,500 files were read; p"),
        ("2 of 3 parts", "only 2 of 3 parts were read; p"),
    ],
)
def test_how_many_parts_were_read_is_said_in_words_that_fit(coverage: str, said: str) -> None:
    listed = make_listed("k", omissions=(Omission("p", IS_PICTURE),), coverage=coverage)
    assert describe_omissions(listed) == f"{said}: it holds a picture"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "nur 1 von 15 Folien wurde gelesen"),
        ("es", "solo se leyó 1 de 15 diapositivas"),
        ("fr", "je n'ai lu que 1 sur 15 diapositives"),
        ("ja", "スライド 15 枚のうち 1 だけが読まれました"),
        ("pt", "só li 1 de 15 slides"),
    ],
)
def test_how_many_parts_were_read_is_said_in_each_language(language: str, said: str) -> None:
    with use_language(language):
        deck = make_listed("k", omissions=(Omission("slide 9", IS_PICTURE),), coverage="1 of 15 slides")
        assert describe_omissions(deck).startswith(said)


def test_pictures_between_texts_are_not_worth_a_notice() -> None:
    assert not is_worth_a_notice(make_listed("k", omissions=(Omission("3 pictures", NO_OCR),)))
    assert not is_worth_a_notice(make_listed("k", omissions=(Omission("signature a.asc", SIGNATURE),)))


def test_of_many_parts_the_first_are_named() -> None:
    many = tuple(Omission(f"slide {number}", IS_PICTURE) for number in range(1, 9))
    assert describe_omissions(make_listed("k", omissions=many)).endswith("and 3 other parts")
