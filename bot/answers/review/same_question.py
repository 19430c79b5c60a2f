"""Decide whether two questions ask the same, so that a verified answer to one answers the other. Pure.

Similar vectors are not enough: "the warranty on the tiles" and "the warranty on the gutters", "enable" and "disable",
2025 and 2026 are close to each other. So the words decide as well: no question may have a word that the other replaces
by a different one. A wrong answer is worse than none, therefore a paraphrase with other words is not recognized.

The words that turn a question into another one are known in English, German, French, Spanish and Portuguese.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from engine.text.word_lists import STOP_WORDS

SAME_WORDS_SIMILARITY = 0.75  # of questions with the same words
ADDED_WORD_SIMILARITY = 0.88  # if one of them has a further word

_WORD = re.compile(r"\w+(?:[-.]\w+)*")
_KINDS = {  # words that say what is asked for
    "who": "person whom whose who wer wen wem wessen qui quién quiénes quien quienes quem",
    "when": "when time date day wann quand cuándo cuando quando",
    "where": "where place wo wohin woher où dónde adónde donde onde aonde",
    "why": "why reason warum wieso weshalb pourquoi porqué",
    "number": "number wieviel wieviele combien cuánto cuánta cuántos cuántas quanto quanta quantos quantas",
    "way": "how way step process wie cómo como",
}
_HOW = {  # the same for words after "how"
    "number": "many much big large expensive high heavy",
    "frequency": "often frequently",
    "length": "long",
    "age": "old",
    "distance": "far",
    "speed": "fast",
}
_FILLERS = (  # words that a paraphrase adds or drops
    "find get keep give gave tell know need want use come make take something happen possible question please year"
    " exactly currently there"
)
_OPPOSITE_WORDS = (
    "off out down up without not no nor never before after above below over against least less few fewer other"
    " nicht kein keine keinen keinem keiner keines nie niemals ohne außer ne pas non sans jamais aucun aucune sauf"
    " sin nunca jamás ni ningún ninguno ninguna não sem nem nenhum nenhuma"
)
_DAYS = (
    "today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday weekend"
    " heute morgen gestern montag dienstag mittwoch donnerstag freitag samstag sonntag wochenende"
    " hui demain hier lundi mardi mercredi jeudi vendredi samedi dimanche"
    " hoy mañana ayer lunes martes miércoles jueves viernes sábado domingo hoje amanhã ontem segunda terça quarta"
    " quinta sexta"
)
_DIRECTION_WORDS = (
    "to from into onto over instead than before after versus vs von nach zu zum zur aus vor bis statt als"
    " de du vers depuis avant après desde hasta hacia para antes después até depois"
)


def _index(groups: dict[str, str]) -> dict[str, str]:
    """The group of each word."""
    return {word: group for group, words in groups.items() for word in words.split()}


_KIND_BY_WORD, _KIND_AFTER_HOW = _index(_KINDS), _index(_HOW)
_OPPOSITES, _DIRECTIONS = frozenset(_OPPOSITE_WORDS.split()), frozenset(_DIRECTION_WORDS.split())
_UNIMPORTANT = frozenset(STOP_WORDS).union(_FILLERS.split(), _KIND_BY_WORD, _KIND_AFTER_HOW) - _OPPOSITES
_SUFFIXES = ("ations", "ation", "ments", "ment", "ings", "ing", "ed", "es", "s", "e")
_MIN_STEM = 3  # letters


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The words of a question that matter, as stems in their order, and the kinds of what is asked for."""

    stems: tuple[str, ...]
    kinds: frozenset[str]
    is_directed: bool

    @classmethod
    def parse(cls, question: str) -> QuestionWords:
        """Read a question as the stems of its telling words, and what kind of thing it asks for."""
        words = [word.casefold() for word in _WORD.findall(question.replace("’s", " ").replace("'s", " "))]
        stems = dict.fromkeys(_stem(word) for word in words if _matters(word))
        return cls(tuple(stems), frozenset(_find_kinds(words)), not _DIRECTIONS.isdisjoint(words))

    def min_similarity(self, other: QuestionWords) -> float | None:
        """The similarity of vectors from which on both questions ask the same; None if they never do."""
        shared = set(self.stems) & set(other.stems)
        if not shared or not _ask_for_one_kind(self.kinds, other.kinds):
            return None
        if self.is_directed and other.is_directed and _differ_in_order(self, other, shared):
            return None
        added = {*self.stems, *other.stems} - shared
        if not added:
            return SAME_WORDS_SIMILARITY
        if self.kinds != other.kinds or len(added) > 1 or any(map(_is_decisive, added)):
            return None
        return ADDED_WORD_SIMILARITY


def _ask_for_one_kind(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether both ask for the same kind; "what" may ask for a number or a way, too."""
    if first and second:
        return not first.isdisjoint(second)
    return first | second <= {"number", "way"}


def _differ_in_order(first: QuestionWords, second: QuestionWords, shared: set[str]) -> bool:
    ours, theirs = ([stem for stem in question.stems if stem in shared] for question in (first, second))
    return ours != theirs


def _find_kinds(words: list[str]) -> set[str]:
    kinds = {_KIND_BY_WORD[word] for word in words if word in _KIND_BY_WORD}
    for word, following in pairwise(words):
        if word == "how" and following in _KIND_AFTER_HOW:
            kinds = kinds - {"way"} | {_KIND_AFTER_HOW[following]}
    return kinds


def _matters(word: str) -> bool:
    return word not in _UNIMPORTANT and (len(word) > 1 or not word.isascii() or word.isdigit())


def _is_decisive(stem: str) -> bool:
    """Whether a word changes what is asked whatever the others are."""
    return stem in _DECISIVE_STEMS or _has_digit(stem)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _stem(word: str) -> str:
    """The word without an English ending; numbers and codes are kept."""
    if _has_digit(word):
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word.removesuffix(suffix)
            break
    return word[:-1] if len(word) > _MIN_STEM and word[-1] == word[-2] else word


_DECISIVE_STEMS = frozenset(map(_stem, [*_OPPOSITES, *_DAYS.split()]))
