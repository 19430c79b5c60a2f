from __future__ import annotations

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


def test_pictures_between_texts_are_not_worth_a_notice() -> None:
    assert not is_worth_a_notice(make_listed("k", omissions=(Omission("3 pictures", NO_OCR),)))
    assert not is_worth_a_notice(make_listed("k", omissions=(Omission("signature a.asc", SIGNATURE),)))


def test_of_many_parts_the_first_are_named() -> None:
    many = tuple(Omission(f"slide {number}", IS_PICTURE) for number in range(1, 9))
    assert describe_omissions(make_listed("k", omissions=many)).endswith("and 3 other parts")
