"""Rules of answering in other languages: question words, words with little meaning, numbers, times. Pure.

language_rules.json holds them by language: phrases of a question that name no subject, words with little meaning
("generic"), patterns of the kinds of questions and of causes, absences and first persons in answers, words of numbers,
times and attendance, labels of minutes, and synonyms, a group between semicolons; of Chinese also characters of
auxiliary words, and those behind a numeral that tells one thing from another ("ordered").
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from engine.text.languages.detection import detect_language, load_function_words
from engine.text.languages.unspaced import has_unspaced
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from collections.abc import Mapping

_KANA = re.compile("[\u3041-\u30ff]")
_NONE = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """The rules of a language; of one without rules, its function words alone."""

    language: str
    phrases: re.Pattern[str]
    function: frozenset[str]
    generic: frozenset[str]
    synonyms: tuple[frozenset[str], ...] = ()

    def strip_phrases(self, question: str) -> str:
        """A question without the phrases that name no subject."""
        return self.phrases.sub(" ", question)

    def is_function_word(self, word: str) -> bool:
        return word.casefold() in self.function

    def is_generic(self, word: str) -> bool:
        return word.casefold() in self.generic


def detect_rules(question: str) -> LanguageRules:
    """The rules of the language of a question."""
    if has_unspaced(question):
        return load_rules("ja" if _KANA.search(question) else "zh")
    found = detect_language(question).language
    return load_rules(found if found == "en" or found in _load() else _guess(question) or found)


def _guess(question: str) -> str:
    """The language of a short question, of those that have rules, or else the only one whose words it has."""
    if near := detect_language(question, ("en", *_load())).language:
        return near
    words = word_set(question.casefold())
    found = [language for language, entry in _load().items() if not words.isdisjoint(word_set(entry["generic"]))]
    return found[0] if len(found) == 1 else ""


@cache
def load_rules(language: str) -> LanguageRules:
    """The rules of a language; of English and unknown ones empty."""
    entry = _load().get(language, {})
    function = frozenset() if language == "en" else load_function_words().get(language, frozenset())
    groups = tuple(map(word_set, filter(None, entry.get("synonyms", "").split(";"))))
    phrases = re.compile(entry["phrases"], re.IGNORECASE) if entry.get("phrases") else _NONE
    return LanguageRules(language, phrases, function, word_set(entry.get("generic", "")), groups)


@cache
def find_pattern(kind: str) -> re.Pattern[str]:
    """What matches a question of a kind, or an answer with a cause or a first person, in any of the languages."""
    return re.compile(join_patterns(kind), re.IGNORECASE)


def join_patterns(kind: str) -> str:
    """The text of a pattern for any of the languages that have one of a kind."""
    return "|".join(filter(None, (entry.get(kind) for entry in _load().values())))


@cache
def load_words(kind: str) -> frozenset[str]:
    """The words of numbers or times in all of the languages."""
    return word_set(" ".join(entry.get(kind, "") for entry in _load().values()))


@cache
def _load() -> Mapping[str, Mapping[str, str]]:
    text = files(__package__).joinpath("language_rules.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, str]] = json.loads(text)
    return loaded
