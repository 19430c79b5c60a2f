"""Notice a text layer that is garbage: a bad recognition, or a font without a mapping to characters. Pure."""

from __future__ import annotations

import re
import unicodedata

# Shorter texts are not judged: a page with "1" or "B-7" on it is not garbage.
_MIN_CHARACTERS, _MIN_WORDS = 60, 20
# On readable documents (tables of numbers and forms among them) these shares are above 0.8, below 0.35 and above 0.9.
_MIN_ALPHANUMERIC, _MAX_SINGLE, _MIN_PRONOUNCEABLE = 0.6, 0.5, 0.65
_SAMPLE_SIZE = 200_000
_WORD = re.compile(r"[^\W\d_]+")
_VOWELS = frozenset("aeiouyæøœıα")


def is_garbled(text: str) -> bool:
    """Whether hardly anything in a text can be a word.

    Measured are the share of letters and digits, of single letters among the words, and of words with a vowel among
    the longer words in Latin letters.
    """
    dense = "".join(text[:_SAMPLE_SIZE].split())
    if len(dense) < _MIN_CHARACTERS:
        return False
    if sum(map(str.isalnum, dense)) < _MIN_ALPHANUMERIC * len(dense):
        return True
    words = _WORD.findall(text[:_SAMPLE_SIZE])
    latin = [word for word in words if word[0] < "\u0250"]
    if len(latin) < _MIN_WORDS or 2 * len(latin) < len(words):
        return False
    if sum(len(word) == 1 for word in latin) > _MAX_SINGLE * len(latin):
        return True
    longer = [word for word in latin if len(word) > 2 and not word.isupper()]
    pronounceable = sum(bool(_VOWELS.intersection(_base_letters(word))) for word in longer)
    return len(longer) >= _MIN_WORDS and pronounceable < _MIN_PRONOUNCEABLE * len(longer)


def _base_letters(word: str) -> str:
    """The letters in lower case without accents."""
    return unicodedata.normalize("NFD", word.lower())
