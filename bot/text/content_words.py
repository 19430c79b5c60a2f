"""The words of a text that distinguish it from others: no stop words, no short ones. Pure."""

from __future__ import annotations

import re

from engine.text.word_lists import STOP_WORDS

MIN_WORD_LENGTH = 3  # letters of a content word; one less if it has a digit
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")  # scripts without spaces between words


def content_words(text: str) -> set[str]:
    """The case-folded content words of a text; in scripts without spaces, pairs of letters."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS and len(word) >= MIN_WORD_LENGTH - any(map(str.isdigit, word)):
            found.add(word)
    return found


def has_any_word(words: set[str], text: str) -> bool:
    """Whether a text has any of these words."""
    return bool(words) and not words.isdisjoint(content_words(text))
