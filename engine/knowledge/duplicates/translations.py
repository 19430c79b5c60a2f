"""Tell whether two names may be the same name in two scripts or languages: 東京 and Tokyo, München and Munich. Pure.

Texts in two languages each use their own name, so that both have the same neighbors without being neighbors themselves;
siblings, such as two cities of a list, stand in one text and are. Vectors of names in two scripts say little unless the
embedder knows both languages, so that they count less.
"""

from __future__ import annotations

import math
import unicodedata
from functools import lru_cache

MIN_SHARED, MIN_SHARED_IN_SCRIPT = 2, 3  # common neighbors of names in two scripts, and in one
MIN_OVERLAP = 0.5  # of the neighbors of the name that has fewer
MIN_SIMILARITY_IN_SCRIPT = 0.35  # of names in one script, whose spelling says nothing
_BIAS, _BIAS_IN_SCRIPT, _OVERLAP, _SIMILARITY = -2.6, -3.4, 3.0, 2.0
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "IDEOGRAPHIC": "CJK"}


@lru_cache(maxsize=8192)
def find_script(name: str) -> str:
    """The script of most letters of a name, "" without letters: LATIN, CYRILLIC, CJK."""
    found = [unicodedata.name(letter, "").partition(" ")[0] for letter in name if letter.isalpha()]
    scripts = [_ONE_SCRIPT.get(script, script) for script in found]
    return max(sorted(set(scripts)), key=scripts.count, default="")


def are_in_two_scripts(a: str, b: str) -> bool:
    """Whether two names are written in different scripts."""
    return len({find_script(a), find_script(b)} - {""}) > 1


def score_translation(a: str, b: str, similarity: float, shared: int, neighbors: int) -> float:
    """The estimated probability that two names which are no neighbors are one name in two scripts or languages.

    `shared`: their common neighbors; `neighbors`: those of the name that has fewer.
    """
    overlap = min(1.0, shared / neighbors) if neighbors else 0.0
    two = are_in_two_scripts(a, b)
    if shared < (MIN_SHARED if two else MIN_SHARED_IN_SCRIPT) or overlap < MIN_OVERLAP:
        return 0.0
    if not two and similarity < MIN_SIMILARITY_IN_SCRIPT:
        return 0.0
    total = (_BIAS if two else _BIAS_IN_SCRIPT) + _OVERLAP * overlap + _SIMILARITY * max(0.0, similarity)
    return 1 / (1 + math.exp(-total))
