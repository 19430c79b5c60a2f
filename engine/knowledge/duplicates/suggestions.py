"""Score how likely two names mean the same entity, to suggest that a person merges them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from engine.knowledge.duplicates.name_keys import is_abbreviation, spelling_key
from engine.knowledge.duplicates.person_names import has_initials_of, has_other_initial, omits_middle_name
from engine.knowledge.duplicates.translations import score_translation
from engine.text.word_lists import STOP_WORDS, word_set

MIN_SPELLING = 80.0  # of a pair that is worth a closer look, 0 to 100
MIN_SIMILARITY = 0.74  # of their vectors
MIN_PART_LETTERS = 4
MIN_WORD_SPELLING = 60.0  # of two words that may be one
SUGGESTION_SCORE = 0.35
_WORD = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[ivx]+")
# Words of a pair that make two names two things.
_OPPOSITES = tuple(
    map(
        word_set,
        (
            "north south east west northern southern eastern western northeast northwest southeast southwest",
            "first second third fourth fifth sixth seventh eighth ninth tenth",
            "one two three four five six seven eight nine ten",
            "spring summer autumn fall winter",
            "january february march april may june july august september october november december",
            "monday tuesday wednesday thursday friday saturday sunday",
            "junior senior jr sr",
            "upper lower middle inner outer central",
            "men women boys girls male female",
            "old new",
            "left right",
            "minor major",
            "pre post anti pro",
        ),
    )
)
_DEMONYM = ("an", "ian", "ese", "ish", "n", "i", "ic", "ern")


@dataclass(frozen=True, slots=True)
class PairFeatures:
    """The evidence for and against one entity behind two canonical names.

    `similarity`: of their vectors, 0 if unknown. `shared`: their common neighbors; `neighbors`: those of the
    name that has fewer. `same_type`: None if the type of one is unknown. `are_persons`: both are typed so.
    `are_linked`: they are neighbors themselves, or that is unknown.
    """

    a: str
    b: str
    similarity: float = 0.0
    shared: int = 0
    neighbors: int = 0
    same_type: bool | None = None
    are_persons: bool = False
    are_linked: bool = True


def measure_spelling(a: str, b: str) -> float:
    """How alike two canonical names are spelled, 0 to 100; the order of words counts little."""
    return max(fuzz.ratio(a, b), 0.97 * fuzz.token_sort_ratio(a, b))


@lru_cache(maxsize=4096)
def _words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(name))


def is_contradicted(a: str, b: str) -> bool:
    """Whether names differ in a number, an initial or opposites: "1940 Olympics" and "1944 Olympics"."""
    if has_other_initial(a, b):
        return True
    if has_initials_of(a, b):
        return False
    x, y = _words(a) - _words(b), _words(b) - _words(a)
    if _numbers(_words(a)) != _numbers(_words(b)) and _numbers(x | y):
        return True
    return any(x & group and y & group for group in _OPPOSITES) or _is_demonym(a, b)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(map(str.isdigit, word)) or _ROMAN.fullmatch(word))


def _is_demonym(a: str, b: str) -> bool:
    """Whether one name is the adjective of the other, such as "Austria" and "Austrian"."""
    short, long = sorted((a, b), key=len)
    stems = {short, short.rstrip("aeoy")}
    return any(long == stem + ending for stem in stems for ending in _DEMONYM) and spelling_key(a) != spelling_key(b)


def abbreviates(a: str, b: str) -> bool:
    """Whether one name may be an abbreviation of the other: it has its initials."""
    short, long = sorted((a, b), key=len)
    return " " in long and " " not in short and is_abbreviation(short.replace(".", "").upper(), long)


def is_part(a: str, b: str) -> bool:
    """Whether all words of one name are among those of the other, such as "Lovelace" and "Ada Lovelace"."""
    x, y = _words(a) - STOP_WORDS, _words(b) - STOP_WORDS
    short, long = sorted((x, y), key=len)
    return bool(short) and short < long and any(len(word) >= MIN_PART_LETTERS for word in short)


def is_replaced(a: str, b: str) -> bool:
    """Whether each name has a word that is like none of the other: "king of Spain" and "king of France"."""
    x, y = _words(a) - _words(b) - STOP_WORDS, _words(b) - _words(a) - STOP_WORDS
    return _has_unlike(x, y) and _has_unlike(y, x)


def _has_unlike(words: frozenset[str], others: frozenset[str]) -> bool:
    return any(all(fuzz.ratio(word, other) < MIN_WORD_SPELLING for other in others) for word in words)


def is_candidate(a: str, b: str, similarity: float) -> bool:
    """Whether a pair is worth keeping: it is alike in spelling, or in meaning with a common word."""
    if is_contradicted(a, b):
        return False
    if (
        spelling_key(a) == spelling_key(b)
        or omits_middle_name(a, b)
        or abbreviates(a, b)
        or measure_spelling(a, b) >= MIN_SPELLING
    ):
        return True
    return similarity >= MIN_SIMILARITY or (is_part(a, b) and similarity > 0)


def score_pair(features: PairFeatures) -> float:
    """The estimated probability that both names mean the same entity; a logistic model of the features."""
    a, b = features.a, features.b
    if is_contradicted(a, b):
        return 0.0
    overlap = features.shared / features.neighbors if features.shared > 1 else 0.0
    total = (
        WEIGHTS["bias"]
        + WEIGHTS["spelling"] * (measure_spelling(a, b) / 100)
        + WEIGHTS["similarity"] * features.similarity
        + WEIGHTS["overlap"] * min(1.0, overlap)
        + WEIGHTS["key"] * (spelling_key(a) == spelling_key(b))
        + WEIGHTS["abbreviation"] * abbreviates(a, b)
        + WEIGHTS["part"] * is_part(a, b)
        + WEIGHTS["replaced"] * (is_replaced(a, b) and not has_initials_of(a, b))
        + WEIGHTS["initials"] * has_initials_of(a, b)
        + WEIGHTS["middle_name"] * (features.are_persons and omits_middle_name(a, b))
        + WEIGHTS["other_type"] * (features.same_type is False)
    )
    return max(1 / (1 + math.exp(-total)), _score_translation(features))


def _score_translation(features: PairFeatures) -> float:
    if features.are_linked or features.same_type is False:
        return 0.0
    return score_translation(features.a, features.b, features.similarity, features.shared, features.neighbors)


# Fitted to labeled pairs (`benchmarks.duplicates`). Siblings in one text, such as two districts, share a neighbor too:
# common neighbors count from two on. The pairs had few persons: `initials` and `middle_name` are chosen so that such a
# pair is suggested without any other sign.
WEIGHTS = {
    "bias": -6.0,
    "spelling": 4.0,
    "similarity": 3.2,
    "overlap": 0.5,
    "key": 1.6,
    "abbreviation": 6.5,
    "part": -0.7,
    "replaced": -1.9,
    "initials": 4.5,
    "middle_name": 4.0,
    "other_type": -0.4,
}
