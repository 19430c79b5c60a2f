"""Titles and excerpts of sources, and the words that distinguish a text; an excerpt is what the answer uses. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.text.patterns import compile_late
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

EXCERPT_LENGTH = 160  # characters
MIN_WORD_LENGTH = 3  # letters of a content word; one less if it has a digit
_SENTENCE = compile_late(r"(?<=[.!?:;])\s+|\n+")
_WORD = compile_late(r"\w{3,}")
_ANY_WORD = compile_late(r"\w+")
_UNSPACED = compile_late(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")  # scripts without spaces between words
_DATE = r"\d{4}-\d\d-\d\d"
_SPEAKER_PREFIX = compile_late(rf"^\[{_DATE} \d\d:\d\d\] [^:\n]+: ")  # of a message
_CONVERSATION_TIMES = compile_late(
    rf"(?:: Messages of {_DATE}[-–: \d]*|(?<=: Thread by )(.{{1,200}}), {_DATE})$"
)  # of a conversation


def source_title(title: str, label: str) -> tuple[str, str]:
    """The title of a source with its location, without repeating a time or name."""
    location = label.removeprefix(title).lstrip(" ›")
    return (_CONVERSATION_TIMES.sub(r"\1", title) if re.search(_DATE, label) else title), location


def strip_speaker(text: str) -> str:
    """A message without its author and time, which its label shows."""
    return _SPEAKER_PREFIX.sub("", text)


def strip_heading(text: str, label: str) -> str:
    """A passage without the heading that it begins with, which its label shows."""
    first, _, rest = text.partition("\n")
    is_shown = bool(rest.strip()) and " ".join(first.split()) == " ".join(label.rpartition("›")[2].split())
    return rest.strip("\n") if is_shown else text


def build_excerpt(text: str, about: str = "", length: int = EXCERPT_LENGTH) -> str:
    """One line of a text, from the sentence that shares the most words with the answer."""
    sentences = [" ".join(part.split()) for part in _SENTENCE.split(text) if part.strip()]
    start = _best_start(sentences, about)
    return ("… " if start else "") + truncate_line(" ".join(sentences[start:]), length)


def lines_citing(answer: str, number: int) -> str:
    """The lines of an answer that cite a number."""
    return "\n".join(line for line in answer.split("\n") if f"[{number}]" in line)


def truncate_line(text: str, length: int = EXCERPT_LENGTH) -> str:
    """The beginning of a text as one line, truncated at a word."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"


def shorten(text: str, limit: int) -> str:
    """A text of at most `limit` characters, which ends with an ellipsis if it was longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _best_start(sentences: Sequence[str], about: str) -> int:
    """The first of those that share most words."""
    words = _words(about)
    shares = [len(_words(sentence) & words) for sentence in sentences]
    return shares.index(max(shares)) if any(shares) else 0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def content_words(text: str) -> set[str]:
    """The case-folded content words of a text; in scripts without spaces, pairs of letters."""
    found: set[str] = set()
    for word in _ANY_WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in STOP_WORDS and len(word) >= MIN_WORD_LENGTH - any(map(str.isdigit, word)):
            found.add(word)
    return found


def has_any_word(words: set[str], text: str) -> bool:
    """Whether a text has any of these words."""
    return bool(words) and not words.isdisjoint(content_words(text))
