"""Clean text from outside: control characters and surrogates; and how a line shows who wrote a message. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters except tab and newline, byte order marks, and code points that are not characters.
_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufdd0-\ufdef\ufffe\uffff]")
# What sets colors, characters and titles in a terminal, as logs have it.
_TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[()*+][0-9A-Z]|[=>78])"
)
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_TRAILING = re.compile(r"(?<![ \t])[ \t]++$", re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")
MAX_NAME_LENGTH = 240  # characters of a file's name or path
MINUTE_FORMAT = "%Y-%m-%d %H:%M"
# Regular expression of the time between the brackets, without a group.
MESSAGE_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d"


def clean_lines(text: str) -> list[str]:
    """The cleaned lines of a text; line numbers are the same as in an editor."""
    return _clean(_NEWLINES.sub("\n", text)).split("\n")


def clean_multiline(text: str) -> str:
    """The cleaned text without trailing blanks, outer blank space and repeated empty lines."""
    return _GAPS.sub("\n\n", _TRAILING.sub("", _clean(_NEWLINES.sub("\n", text)))).strip()


def clean_single_line(text: str) -> str:
    """The cleaned text on one line with single spaces, for titles, labels and names."""
    return " ".join(_clean(_NEWLINES.sub(" ", text)).split())


def shorten_name(name: str) -> str:
    """A name of at most MAX_NAME_LENGTH characters: a longer one loses its middle, so that its end says what it is."""
    end = MAX_NAME_LENGTH // 3
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - end - 1]}…{name[-end:]}"


def _clean(text: str) -> str:
    """Remove control characters and codes of terminals; join surrogate pairs and replace lone surrogates."""
    if "\x1b" in text:
        text = _TERMINAL.sub("", text)
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNWANTED.sub("", text)


def render_message_line(time: datetime, user: str, text: str) -> str:
    """A message as one line, or several if its text has them."""
    return f"[{time:{MINUTE_FORMAT}}] {user}: {text}"


def message_text(line: str) -> str:
    """The text of a message that `render_message_line` rendered."""
    return line.partition(": ")[2]
