"""Unicode normalization in linear time. Pure."""

from __future__ import annotations

import unicodedata
from typing import Literal

SLICE_CHARACTERS = 2_000
MAX_MARKS = 200  # characters that are searched for the end of a slice; texts have a few marks on a character
JAMO_VOWELS, JAMO_FINALS = "\u1160", "\u11ff"  # letters that join the one before them

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalize_text(form: Form, text: str) -> str:
    """The text in a form of Unicode: a slice at a time, since the time grows with the square of a run of marks."""
    if text.isascii() or len(text) <= SLICE_CHARACTERS:
        return unicodedata.normalize(form, text)
    slices = list[str]()
    at = 0
    while at < len(text):
        end = _find_slice_end(text, at)
        slices.append(unicodedata.normalize(form, text[at:end]))
        at = end
    return "".join(slices)


def _find_slice_end(text: str, start: int) -> int:
    """The end of a slice, before a character that does not combine with the one before it."""
    end = start + SLICE_CHARACTERS
    if end >= len(text):
        return len(text)
    return next((at for at in range(end, end - MAX_MARKS, -1) if _starts_anew(text[at])), end)


def _starts_anew(character: str) -> bool:
    """Whether a character, or the first one of its compatible form, combines with none before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    joins = JAMO_VOWELS <= first <= JAMO_FINALS
    return not joins and not unicodedata.combining(first) and unicodedata.category(first)[0] != "M"
