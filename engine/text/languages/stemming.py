"""Stems of words by the algorithms of Snowball: terms that full text holds beside the words themselves. Pure.

A term is a stem without diacritics, followed by a private character that stands for its language, so that stems of
different languages differ, and no text contains one. English has none: the indexes hold the stems of its words by
Porter's algorithm. Both databases hold the same terms.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from threading import local
from typing import TYPE_CHECKING

import Stemmer

from engine.text.languages.detection import detect_language, load_function_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VERSION = "1"  # of the terms; another one has all chunks indexed again
ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
FIRST_TAG = 0xF000  # of private characters
TAGS = {language: chr(FIRST_TAG + place) for place, language in enumerate(ALGORITHMS)}
MIN_LETTERS, MAX_LETTERS = 3, 256
MIN_MAIN_MARGIN = 1.0  # of the language of a text before the next one
MIN_MARGIN = 2.5  # of a line that is in another language than most of its text
_WORD = re.compile(r"\w+")
_LATIN_WORD = re.compile("[a-z\u00df-\u024f]+")
_OTHER_SCRIPTS = frozenset(("ar", "el", "fa", "hi", "hy", "ru", "ta"))
_ARABIC_VOWELS = re.compile("[\u0640\u064b-\u065f\u0670]")
_PORTUGUESE_PLURAL = re.compile("(?:õ|ã)es$")
LINE_HEAD = re.compile(r"^\[[^\]]{4,40}\]\s*(?:[^:\n]{1,40}:)?", re.MULTILINE)
_threads = local()  # a stemmer may be used by one thread at a time


def list_stem_terms(text: str) -> list[str]:
    """The stem terms of a text, one for each word that has one, in order; each line in its language."""
    whole = detect_language(LINE_HEAD.sub("", text))
    main = whole.language if whole.margin >= MIN_MAIN_MARGIN else ""
    terms: list[str] = []
    for line in text.splitlines():
        found = detect_language(LINE_HEAD.sub("", line))
        language = found.language if found.margin >= MIN_MARGIN else main
        if language in ALGORITHMS:
            terms += _stem_words(_list_words(line), language)
    return terms


def join_stem_terms(text: str) -> str:
    """The stem terms of a text between blanks."""
    return " ".join(list_stem_terms(text))


def list_query_stems(word: str, languages: Iterable[str]) -> list[str]:
    """The terms that find other forms of a word in texts of these languages."""
    words = _list_words(word)
    return [term for language in languages if language in ALGORITHMS for term in _stem_words(words, language)]


def find_languages(terms: Iterable[str]) -> set[str]:
    """The languages of stem terms."""
    tags = {term[-1] for term in terms}
    return {language for language, tag in TAGS.items() if tag in tags}


def _list_words(text: str) -> list[str]:
    """The words of a text that can have a stem."""
    words = _WORD.findall(_ARABIC_VOWELS.sub("", unicodedata.normalize("NFC", text.casefold())))
    return [word for word in words if MIN_LETTERS <= len(word) <= MAX_LETTERS and word.isalpha()]


def _stem_words(words: Sequence[str], language: str) -> list[str]:
    ignored, latin = load_function_words().get(language, frozenset()), language not in _OTHER_SCRIPTS
    chosen = [word for word in words if word not in ignored and (latin == bool(_LATIN_WORD.fullmatch(word)))]
    return [term for word in chosen if (term := _make_term(word, language))]


@lru_cache(maxsize=16_384)
def _make_term(word: str, language: str) -> str:
    """The term of a word, "" if nothing is left of it."""
    letters = unicodedata.normalize("NFD", _stemmer(language).stemWord(_to_singular(word, language)))
    stem = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return f"{stem}{TAGS[language]}" if stem else ""


def _to_singular(word: str, language: str) -> str:
    """A Portuguese word with one of the plurals that its algorithm keeps apart as its singular."""
    return _PORTUGUESE_PLURAL.sub("ão", word) if language == "pt" else word


def _stemmer(language: str) -> Stemmer.Stemmer:
    known = _threads.__dict__
    if language not in known:
        known[language] = Stemmer.Stemmer(ALGORITHMS[language])
    stemmer: Stemmer.Stemmer = known[language]
    return stemmer
