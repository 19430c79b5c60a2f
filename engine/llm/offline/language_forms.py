"""Find other forms of the words of a question in sentences: by stems, synonyms, and as parts of compounds. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from engine.text.languages.detection import ALGORITHMS, list_query_stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.llm.offline.language_rules import LanguageRules

COMPOUNDING = frozenset(("de", "nl", "sv", "da", "no", "fi"))
MIN_PART = 5  # letters of a word within a compound


def list_forms(words: Mapping[str, str], known: Iterable[str], rules: LanguageRules) -> dict[str, frozenset[str]]:
    """For words of a question by their stems: the stems among `known` that other forms of the word have."""
    if rules.language not in ALGORITHMS:
        return {}
    folded = {stem: fold(stem, rules.language) for stem in known}
    found = {}
    for key, word in words.items():
        asked = {fold(word, rules.language)}
        groups = ({fold(each, rules.language) for each in group} for group in rules.synonyms)
        asked = asked.union(*(group for group in groups if not asked.isdisjoint(group)))
        others = {stem for stem, form in folded.items() if form in asked or _is_part(form, asked, rules.language)}
        if others := others - {key}:
            found[key] = frozenset(others)
    return found


@lru_cache(maxsize=16_384)
def fold(word: str, language: str) -> str:
    """The stem of a word in a language without an elided article before it."""
    bare = word.casefold().replace("’", "'").rpartition("'")[2] or word.casefold()
    terms = list_query_stems(bare, [language])
    return terms[0][:-1] if terms else bare  # without its tag


def _is_part(form: str, asked: Iterable[str], language: str) -> bool:
    """Whether a word ends with one that is asked for, or that with it: Bootsschlüssel, Schlüssel."""
    if language not in COMPOUNDING:
        return False
    pairs = ((form, other) if len(form) > len(other) else (other, form) for other in asked)
    return any(
        len(short) >= MIN_PART and len(long) > len(short) + 1 and (long.endswith(short) or long.startswith(short))
        for long, short in pairs
    )
