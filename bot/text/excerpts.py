"""What a source is called under an answer, and the part of it that is quoted: the one the answer draws on. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH = 160  # characters
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
_WORD = re.compile(r"\w{3,}")
_DATE = r"\d{4}-\d\d-\d\d"
_HEAD = re.compile(rf"^\[{_DATE} \d\d:\d\d\] [^:\n]+: ")  # of a message
_TIMES = re.compile(rf"(?:: Messages of {_DATE}[-–: \d]*|(?<=: Thread by )(.{{1,200}}), {_DATE})$")  # of a conversation


def called(title: str, label: str) -> tuple[str, str]:
    """The title of a source, and the place in it: what both tell (a conversation's time, a document's name) once."""
    place = label.removeprefix(title).lstrip(" ›")
    return (_TIMES.sub(r"\1", title) if re.search(_DATE, label) else title), place


def unheaded(text: str) -> str:
    """The words of a message without who said them and when: its label tells that."""
    return _HEAD.sub("", text)


def quote(text: str, about: str = "", length: int = LENGTH) -> str:
    """One line of a text from the sentence on that has most of the words it is quoted for."""
    sentences = [" ".join(each.split()) for each in _SENTENCE.split(text) if each.strip()]
    start = _best(sentences, about)
    return ("… " if start else "") + shortened(" ".join(sentences[start:]), length)


def cited_for(answer: str, number: int) -> str:
    """The lines of an answer which cite this number."""
    return "\n".join(line for line in answer.split("\n") if f"[{number}]" in line)


def shortened(text: str, length: int = LENGTH) -> str:
    """The beginning of a text on one line, ending at a word."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[:length].rsplit(" ", 1)[0] + " …"


def _best(sentences: Sequence[str], about: str) -> int:
    """The first of those that share most words."""
    wanted = _words(about)
    shares = [len(_words(sentence) & wanted) for sentence in sentences]
    return shares.index(max(shares)) if any(shares) else 0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
