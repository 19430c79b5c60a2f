"""Foreign text made storable: no controls, no halves of characters; everything else stays as it was written. Pure."""

from __future__ import annotations

import re

_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls but tab and newline, the byte order mark in mid-text, and the code points that are no characters.
_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufdd0-\ufdef\ufffe\uffff]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")


def clean_lines(text: str) -> list[str]:
    """The lines of a text, cleaned, so that their numbers are those which an editor shows."""
    return _clean(_NEWLINES.sub("\n", text)).split("\n")


def clean_multiline(text: str) -> str:
    """The text cleaned, without blank space at its ends and ends of lines, and with at most one empty line in a row."""
    return _GAPS.sub("\n\n", _TRAILING.sub("", _clean(_NEWLINES.sub("\n", text)))).strip()


def clean_single_line(text: str) -> str:
    """The text cleaned, all its blank space single: for titles, labels and names."""
    return " ".join(_clean(_NEWLINES.sub(" ", text)).split())


def _clean(text: str) -> str:
    """Without controls; halves of surrogate pairs are joined where they meet and replaced where they do not."""
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNWANTED.sub("", text)
