"""What a source is called under an answer, and the part of it that is quoted: the one the answer draws on. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EXCERPT_LENGTH = 160  # characters
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
_WORD = re.compile(r"\w{3,}")
_DATE = r"\d{4}-\d\d-\d\d"
_SPEAKER_PREFIX = re.compile(rf"^\[{_DATE} \d\d:\d\d\] [^:\n]+: ")  # of a message
_CONVERSATION_TIMES = re.compile(
    rf"(?:: Messages of {_DATE}[-–: \d]*|(?<=: Thread by )(.{{1,200}}), {_DATE})$"
)  # of a conversation


def source_title(title: str, label: str) -> tuple[str, str]:
    """The title of a source, and the place in it: what both tell (a conversation's time, a document's name) once."""
    location = label.removeprefix(title).lstrip(" ›")
    return (_CONVERSATION_TIMES.sub(r"\1", title) if re.search(_DATE, label) else title), location


def strip_speaker(text: str) -> str:
    """The words of a message without who said them and when: its label tells that."""
    return _SPEAKER_PREFIX.sub("", text)


def build_excerpt(text: str, about: str = "", length: int = EXCERPT_LENGTH) -> str:
    """One line of a text from the sentence on that has most of the words it is quoted for."""
    sentences = [" ".join(each.split()) for each in _SENTENCE.split(text) if each.strip()]
    start = _best_start(sentences, about)
    return ("… " if start else "") + truncate_line(" ".join(sentences[start:]), length)


def lines_citing(answer: str, number: int) -> str:
    """The lines of an answer which cite this number."""
    return "\n".join(line for line in answer.split("\n") if f"[{number}]" in line)


def truncate_line(text: str, length: int = EXCERPT_LENGTH) -> str:
    """The beginning of a text on one line, ending at a word."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"


def _best_start(sentences: Sequence[str], about: str) -> int:
    """The first of those that share most words."""
    wanted = _words(about)
    shares = [len(_words(sentence) & wanted) for sentence in sentences]
    return shares.index(max(shares)) if any(shares) else 0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
