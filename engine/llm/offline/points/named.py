"""Recognize whether a message names a person. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.supersession.values import CALENDAR_NAMES
from engine.text.languages.unspaced import has_unspaced
from engine.text.word_lists import COMMON_WORDS, STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Callable

# First names that are words of sentences as well, beside those of the lists of words.
_WORD_NAMES = word_set(
    """
    art bill bob chance chase chuck clay dale dawn dean drew faith frank gene glen grace grant guy hank heath herb holly
    hope iris ivy jack jean joy june lance lane lily mark max miles nick norm olive page pat pearl penny pierce ray reed
    rich rob robin rose ruby rusty sandy skip stormy sue summer tony trip victor violet wade ward wendy will win
    engel ernst frei heide kai kurt linde mai rosa sonne wolf
    aurore claire clément constant fleur juste marine mars parfait pierre prudence
    alba blanca clara consuelo cruz dolores luz mercedes paz pilar sol victoria
    """
)
_ADDRESSED = (
    r"(?:(?:\A|[.!?\n,;:–—]\s*|\b(?:hi|hey|hello|dear|thanks|thank you|cc|ask|hallo|danke|liebe[r]?|merci|bonjour|hola|"
    r"gracias|olá|obrigad[oa])\s+)(?-i:{name})(?=\s*(?:[,:!?–—]|\Z))|[^\W\d_],\s+(?-i:{name})(?=\s*[.,!?]))"
)
_WITHIN = r"(?<=[a-zà-ÿ0-9]\s)(?-i:{name})(?!\w)"


def build_name_test(person: str) -> Callable[[str], bool]:
    """Whether a text names a person: by their whole name, by its first word, or after an "@".

    A first name that is a word as well, such as Will or May, counts only where it cannot be that word.
    """
    words = person.removeprefix("@").split()
    if not words:
        return lambda _: False
    patterns = [_bound(rf"@{re.escape(words[0])}")]
    patterns += [_bound(re.escape(" ".join(words)))] if len(words) > 1 else []
    patterns += _list_first_name_patterns(words[0])
    named = re.compile("|".join(patterns), re.IGNORECASE)
    return lambda text: named.search(text) is not None


def _list_first_name_patterns(name: str) -> list[str]:
    """The patterns of a first name: anywhere, or for a word only where somebody is addressed, or within a sentence."""
    folded, escaped = name.casefold(), re.escape(name)
    is_month = folded in CALENDAR_NAMES
    if not (is_month or folded in _WORD_NAMES or folded in STOP_WORDS or folded in COMMON_WORDS):
        return [_bound(escaped)]
    addressed = _ADDRESSED.replace("{name}", escaped)
    return [addressed] if is_month else [addressed, _WITHIN.replace("{name}", escaped)]


def _bound(pattern: str) -> str:
    """The pattern between the edges of words; scripts without spaces have none."""
    return pattern if has_unspaced(pattern) else rf"(?<!\w){pattern}(?!\w)"
