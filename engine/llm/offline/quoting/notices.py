"""The lines above quotations: that they are only the closest ones, and what was searched instead. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.text.languages.unspaced import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

CLOSEST = "Nothing I can use here says this outright. The closest I found:"
CLOSEST_WITHOUT = "I found nothing about {words}. The closest I found:"
SEARCHED_INSTEAD = "I searched for {found} instead of {written}."
MAX_WORDS = 4

_QUOTED = r"“[^”\n]{1,80}”(?:, “[^”\n]{1,80}”){0,7}"
_CLOSEST_WITHOUT = re.compile(re.escape(CLOSEST_WITHOUT).replace(re.escape("{words}"), f"(?P<words>{_QUOTED})"))
_SEARCHED = re.compile(
    re.escape(SEARCHED_INSTEAD)
    .replace(re.escape("{found}"), f"(?P<found>{_QUOTED})")
    .replace(re.escape("{written}"), f"(?P<written>{_QUOTED})")
)


def render_closest(gaps: Sequence[str]) -> str:
    """The line above the closest passages; `gaps`: the words that they lack."""
    return CLOSEST_WITHOUT.format(words=_quote(gaps)) if gaps else CLOSEST


def is_written(word: str, text: str) -> bool:
    """Whether a word stands in a text, so that it cannot be said that nothing was found about it."""
    if has_unspaced(word):
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def render_corrections(corrections: Sequence[tuple[str, str]]) -> str:
    """The line that names what was searched instead of misspelled words, given as (written, found)."""
    written, found = zip(*corrections, strict=True)
    return SEARCHED_INSTEAD.format(found=_quote(found), written=_quote(written))


def match_closest(line: str) -> re.Match[str] | None:
    """The match of a line that names what the closest passages lack, with the group "words"."""
    return _CLOSEST_WITHOUT.fullmatch(line)


def match_corrections(line: str) -> re.Match[str] | None:
    """The match of a line that names corrections, with the groups "found" and "written"."""
    return _SEARCHED.fullmatch(line)


def is_closest(text: str) -> bool:
    """Whether an answer in English shows only the closest passages."""
    lines = text.split("\n", 2)[:2]
    return any(line == CLOSEST or match_closest(line) is not None for line in lines)


def _quote(words: Sequence[str]) -> str:
    plain = [word.replace("“", "").replace("”", "").replace("\n", " ")[:80] for word in words[:MAX_WORDS]]
    return ", ".join(f"“{word}”" for word in plain)
