"""Tell which language a text is written in: by its script, its function words and its letters. Pure.

Measured on sentences of six languages, told from 21: 97.0 % right, 89.1 % of parts of six words (most others: unknown);
cld2 94.3 % and 86.3 %. py3langid is better (98.1 % and 97.2 %), but takes 95 MiB of memory and 0.8 s to load.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-z\u00df-\u024f]")
# Scripts of one language, or of few that their letters tell apart; "" for those that have no stems.
_SCRIPTS = (
    ("ru", re.compile("[\u0400-\u04ff]"), (("", "іїєґў"), ("sr", "ђјљњћџ"))),
    ("ar", re.compile("[\u0600-\u06ff]"), (("", "ٹڈےں"), ("fa", "پچژگ"))),
    ("el", re.compile("[\u0370-\u03ff]"), ()),
    ("hi", re.compile("[\u0900-\u097f]"), ()),
    ("hy", re.compile("[\u0530-\u058f]"), ()),
    ("ta", re.compile("[\u0b80-\u0bff]"), ()),
)
_LETTERS = {
    letter: languages.split()
    for letters, languages in (
        *(("ß", "de"), ("ñ¿¡", "es"), ("ã", "pt"), ("õ", "pt et"), ("œ", "fr"), ("ø æ", "da no"), ("å", "da no sv")),
        *(("őű", "hu"), ("łżśźń", "pl"), ("ąę", "pl lt"), ("řěů", "cs"), ("ğı", "tr"), ("ş", "tr"), ("țăș", "ro")),
        *(("ėū", "lt"), ("ç", "fr pt tr ca"), ("ê", "fr pt"), ("è", "fr it ca"), ("à", "fr it ca pt"), ("ùû", "fr")),
        *(("ò", "it ca"), ("ì", "it"), ("ä", "de sv fi et"), ("ö", "de sv fi hu tr et"), ("ü", "de tr hu et")),
        *(("îâ", "fr ro"), ("ô", "fr pt"), ("óíúá", "es pt cs hu")),
    )
    for letter in letters.replace(" ", "")
}
_WORD_WEIGHT, _LETTER_WEIGHT = 0.5, 0.2  # of a sign that other languages have, too; its share of 1 is added
MIN_WEIGHT = 1.2  # of all signs of a language: two words that others have, too, or one of its own


class Detected(NamedTuple):
    """A language as its ISO 639-1 code, "" if unknown, and the weight of what speaks for it before the next one."""

    language: str
    margin: float


@cache
def load_function_words() -> Mapping[str, frozenset[str]]:
    """The function words of each language, in small letters."""
    text = files(__package__).joinpath("function_words.json").read_text(encoding="utf-8")
    return {language: frozenset(words.split()) for language, words in json.loads(text).items()}


@cache
def _signs() -> Mapping[str, tuple[tuple[str, float], ...]]:
    """What each function word says: languages with weights."""
    holders = defaultdict(list)
    for language, words in load_function_words().items():
        for word in words:
            holders[word].append(language)
    return {
        word: tuple((language, _WORD_WEIGHT + 1 / len(languages)) for language in languages)
        for word, languages in holders.items()
    }


def drop_function_words(words: Sequence[str], text: str) -> list[str]:
    """Those of the words of a text that are no function words of its language, or all of them if none is left.

    English words stay.
    """
    language = detect_language(text).language
    ignored = load_function_words().get(language, frozenset()) if language != "en" else frozenset[str]()
    return [word for word in words if word not in ignored] or list(words)


def detect_language(text: str, among: Collection[str] = ()) -> Detected:
    """The language of a text; one of the Latin script is `among` these, if any are given."""
    folded = text.casefold()
    latin = 0 if folded.isascii() else len(_LATIN.findall(folded))
    for language, script, others in () if folded.isascii() else _SCRIPTS:
        if len(found := script.findall(folded)) > latin:
            letters = set(folded)
            own = next((other for other, own in others if letters & set(own)), language)
            return Detected(own, float(len(found)))
    weights = _weigh(folded)
    return _choose({name: weights[name] for name in among if name in weights} if among else weights)


def _weigh(folded: str) -> dict[str, float]:
    weights: defaultdict[str, float] = defaultdict(float)
    signs = _signs()
    for word in _WORD.findall(folded):
        for language, weight in signs.get(word, ()):
            weights[language] += weight
    for letter in () if folded.isascii() else set(folded):
        for language in _LETTERS.get(letter, ()):
            weights[language] += _LETTER_WEIGHT + 0.6 / len(_LETTERS[letter])
    return weights


def _choose(weights: Mapping[str, float]) -> Detected:
    (second, _), (first, language) = sorted(
        [(0.0, ""), (0.0, ""), *((weight, name) for name, weight in weights.items())]
    )[-2:]
    return Detected(language, first - second) if first >= MIN_WEIGHT and first > second else Detected("", 0.0)
