"""Score how likely two names, or names of people, mean the same, to suggest that a person merges them.

Texts in two languages each use their own name, so that both have the same neighbors without being neighbors themselves;
siblings, such as two cities of a list, stand in one text and are. Vectors of names in two scripts say little unless the
embedder knows both languages, so that they count less.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz import fuzz

from engine.knowledge.duplicates.name_keys import HONORIFICS, is_abbreviation, spelling_key
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
MIN_FAMILY_LETTERS = 2
MIN_WORDS = 2
_PERSON_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
MIN_SHARED, MIN_SHARED_IN_SCRIPT = 2, 3  # common neighbors of names in two scripts, and in one
MIN_OVERLAP = 0.5  # of the neighbors of the name that has fewer
MIN_SIMILARITY_IN_SCRIPT = 0.35  # of names in one script, whose spelling says nothing
_BIAS, _BIAS_IN_SCRIPT, _OVERLAP, _SIMILARITY = -2.6, -3.4, 3.0, 2.0
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "IDEOGRAPHIC": "CJK"}


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


@lru_cache(maxsize=4096)
def split_person_name(name: str) -> tuple[str, ...]:
    """The words of a canonical name, the family name last: "doe, j. t." has j, t, doe; () if it has other signs.

    Without titles; "doe j. t." is the same, and an abbreviation of several letters keeps its period: "th. doe".
    """
    family, comma, given = name.partition(",")
    ordered = f"{given} {family}" if comma else name
    if not all(character.isalpha() or character in " .'’-" for character in ordered):
        return ()
    words = _PERSON_WORD.findall(ordered)
    while len(words) > MIN_WORDS and words[0].removesuffix(".") in HONORIFICS:
        del words[0]
    words = [
        word.removesuffix(".") if _letters(word) == 1 or place == len(words) - 1 else word
        for place, word in enumerate(words)
    ]
    if len(words) >= MIN_WORDS and len(words[0]) > 1 and all(len(word) == 1 for word in words[1:]):
        words = [*words[1:], words[0]]
    return tuple(words)


def _letters(word: str) -> int:
    return len(word.removesuffix("."))


def has_initials_of(a: str, b: str) -> bool:
    """Whether they differ only in initials: "J. Doe", "John Doe", "John T. Doe" and "Doe, John"."""
    return _matches(a, b, may_omit_words=False)


def omits_middle_name(a: str, b: str) -> bool:
    """Whether one has middle names, or initials, that the other leaves out: "John Doe", "John Thomas Doe"."""
    return _matches(a, b, may_omit_words=True)


def has_other_initial(a: str, b: str) -> bool:
    """Whether they are alike but for a single letter: "John T. Doe" and "John B. Doe", "hepatitis A" and "B"."""
    x, y = split_person_name(a), split_person_name(b)
    if len(x) != len(y) or len(x) < 2:
        return False
    return any(len(one) == len(other) == 1 and one != other for one, other in zip(x, y, strict=True))


def _matches(a: str, b: str, *, may_omit_words: bool) -> bool:
    short, long = sorted((split_person_name(a), split_person_name(b)), key=len)
    if (
        len(short) < 2
        or short[-1] != long[-1]
        or not _is_same_or_initial(short[0], long[0])
        or len(short[-1]) < MIN_FAMILY_LETTERS
    ):
        return False
    omitted = _find_omitted(short[:-1], long[:-1])
    return omitted is not None and (may_omit_words or all(len(word) == 1 for word in omitted))


def _find_omitted(short: tuple[str, ...], long: tuple[str, ...]) -> list[str] | None:
    """The given names that the short list leaves out; None if one of its names is not in the other, in order."""
    places = [0]
    for word in short:
        place = next((at for at in range(places[-1], len(long)) if _is_same_or_initial(word, long[at])), None)
        if place is None:
            return None
        places.append(place + 1)
    return [word for before, after in pairwise(places) for word in long[before : after - 1]] + [*long[places[-1] :]]


def _is_same_or_initial(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return one == other or ((len(short) == 1 or short.endswith(".")) and long.startswith(short.removesuffix(".")))


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
