"""Notice a text layer that is garbage: a bad recognition, or a font without a mapping to characters. Pure."""

from __future__ import annotations

import re
import unicodedata

# Shorter texts are not judged: a page with "1" or "B-7" on it is not garbage.
_MIN_CHARACTERS, _MIN_WORDS = 60, 20
# On readable documents (tables of numbers and forms among them) these shares are above 0.8, below 0.35 and above 0.9.
_MIN_ALPHANUMERIC, _MAX_SINGLE, _MIN_PRONOUNCEABLE = 0.6, 0.5, 0.65
_MIN_IN_WORDS = 0.25  # of the characters in words that can be spoken: then signs and single letters say nothing
# Longer words, and the share of them that can be spoken: then single letters are those of formulas and of tables.
_MIN_LONGER, _MIN_SPOKEN = 8, 0.85
_SAMPLE_SIZE = 200_000
_WORD = re.compile(r"[^\W\d_]+")
_SINGLE = re.compile(r"(?<![^\W_])[A-Za-z\u00aa-\u024f](?![^\W_])")  # not the letter of a code, such as B7
_LEADERS = re.compile(r"([^\w\s]|_)(?:[ \t]{0,3}\1){2,}")  # dots that lead to a number, rules, fields to be filled
_VOWELS = frozenset("aeiouyæøœıα")


def is_garbled(text: str) -> bool:
    """Whether hardly anything in a text can be a word.

    Measured are the share of letters and digits, of single letters among the words, and of words with a vowel among
    the longer words in Latin letters. Rows of dots and rules do not count.
    """
    sample = _LEADERS.sub(" ", text[:_SAMPLE_SIZE])
    dense = "".join(sample.split())
    if len(dense) < _MIN_CHARACTERS:
        return False
    words = _WORD.findall(sample)
    has_words = sum(len(word) for word in words if len(word) > 2 and _is_word(word)) >= _MIN_IN_WORDS * len(dense)
    if not has_words and sum(map(str.isalnum, dense)) < _MIN_ALPHANUMERIC * len(dense):
        return True
    latin = [word for word in words if word[0] < "\u0250"]
    if len(latin) < _MIN_WORDS or 2 * len(latin) < len(words):
        return False
    longer = [word for word in latin if len(word) > 2 and not word.isupper()]
    spoken = sum(map(_is_word, longer))
    has_prose = has_words or (len(longer) >= _MIN_LONGER and spoken >= _MIN_SPOKEN * len(longer))
    if not has_prose and len(_SINGLE.findall(sample)) > _MAX_SINGLE * len(latin):
        return True
    return len(longer) >= _MIN_WORDS and spoken < _MIN_PRONOUNCEABLE * len(longer)


def _is_word(word: str) -> bool:
    """Whether a word can be spoken: it has a vowel, or letters that are not Latin."""
    return word[0] >= "\u0250" or bool(_VOWELS.intersection(_base_letters(word)))


def _base_letters(word: str) -> str:
    """The letters in lower case without accents."""
    return unicodedata.normalize("NFD", word.lower())
