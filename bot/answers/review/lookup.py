"""Find the verified answer to a question: one that asks the same, and that may be shown in place of a new one.

A verified answer is a row of the bot, not a document of the engine: as a source among others it would be visible to
everyone in its space, while it may be shown only to those who can read everything that it rests on.

Similar vectors are not enough: "the warranty on the tiles" and "the warranty on the gutters", "enable" and "disable",
2025 and 2026 are close to each other. So the words decide as well: no question may have a word that the other replaces
by a different one. A wrong answer is worse than none, therefore a paraphrase with other words is not recognized.

The words that turn a question into another one are known in English, German, French, Spanish and Portuguese.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.i18n import gettext
from bot.permissions.audience import EMPTY_SCOPE
from bot.permissions.provenance import Provenance, can_read
from bot.text.search_filters import parse_search_filters
from bot.texts import review as review_texts
from engine import Filters, Question, Scope
from engine.errors import ModelError
from engine.text.overviews import by_author
from engine.text.word_lists import STOP_WORDS

if TYPE_CHECKING:
    from datetime import datetime

    from bot.permissions.resolver import AudienceResolver
    from bot.platform.models import Location
    from bot.store import BotStore, VerifiedAnswer
    from engine import Engine, Source


MAX_CANDIDATES = 20  # different texts of verified questions with the same words whose vectors are compared
FOLLOW_UP_WORDS = 2  # words of a follow-up question; one with fewer may mean something else in its thread
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


@dataclass(frozen=True, slots=True)
class RepeatedAnswer:
    """What goes with a verified answer: what its readers must be able to read, its heading, and notices below it."""

    provenance: Provenance
    heading: str
    notices: tuple[str, ...]


class VerifiedLookup:
    """Finds verified answers, and what is shown with them."""

    def __init__(self, store: BotStore, audience: AudienceResolver, engine: Engine) -> None:
        self._store = store
        self._audience = audience
        self._engine = engine

    async def find(
        self, question: Question, place: Location, reader: str, *, is_follow_up: bool
    ) -> VerifiedAnswer | None:
        """The answer to the same question that a reader, or everyone in a place, may read; None without one."""
        return await self._find(question, place, reader) if _is_plain(question, is_follow_up=is_follow_up) else None

    async def describe(self, verified: VerifiedAnswer) -> str:
        """Who verified an answer, when, and to which question, as plain text."""
        name = await self._find_verifier(verified)
        return review_texts.state_verified(name, verified.verified_at, verified.question)

    async def repeat(self, verified: VerifiedAnswer, question: Question, since: float) -> RepeatedAnswer:
        """What goes with a verified answer that is shown in place of a new one to a question.

        `since`: a time before the scope of the question was resolved, by the monotonic clock of AudienceResolver.
        """
        newer = await self._find_newer(question, verified)
        name = await self._find_verifier(verified)
        hints = [review_texts.ask_to_check(newer.link)] if newer is not None else []
        return RepeatedAnswer(
            Provenance(_widen(provenance_of(verified).source_scope, newer, question.scope), {}, since),
            review_texts.format_verified(name, verified.verified_at, verified.question),
            (*hints, gettext(review_texts.VERIFIED_HINT)),
        )

    async def _find_newer(self, question: Question, verified: VerifiedAnswer) -> Source | None:
        """What replaces a source of a verified answer since it was verified, within the scope of the question."""
        used = {(source.document, source.passage) for source in verified.sources}
        try:
            context = await self._engine.retrieve(Question(question.text, question.scope, mode="naive"))
        except ModelError:
            return None
        sources = {source.number: source for source in context.sources}
        for replacement in context.replacements:
            older, newer = sources[replacement.older], sources[replacement.newer]
            is_used = (older.document, older.passage) in used
            if is_used and newer.time is not None and newer.time > verified.verified_at:
                return newer
        return None

    async def _find(self, question: Question, place: Location, reader: str) -> VerifiedAnswer | None:
        """The answer to the same question that all readers of the reply may read; first that of the channel itself."""
        store, found = self._store.verified_answers, list[tuple[str, str, str]]()
        for platform, workspace in sorted(_workspaces(question.scope)):
            found += await store.list_questions(platform, workspace)
        similarities = await self._measure(question.text, list(dict.fromkeys(text for _, _, text in found)))
        same = [(id_, room, similarities[text]) for id_, room, text in found if text in similarities]
        for id_, _, _ in sorted(same, key=lambda each: (each[1] != place.room, -each[2])):
            verified = await store.get(id_)
            if verified is not None and await can_read(self._audience, provenance_of(verified), place, reader):
                return verified
        return None

    async def _measure(self, question: str, texts: list[str]) -> dict[str, float]:
        """The texts that ask the same as a question, with their similarities."""
        words = QuestionWords.parse(question)
        compared = ((text, words.min_similarity(QuestionWords.parse(text))) for text in texts)
        needed = {text: each for text, each in compared if each is not None}
        likely = list(needed)[:MAX_CANDIDATES]
        if not likely:
            return {}
        try:
            similarities = await self._engine.measure_similarities([question, *likely])
        except ModelError:
            return {}  # the search for sources reports it
        measured = dict(zip(likely, similarities[0][1:].tolist(), strict=True))
        return {text: each for text, each in measured.items() if each >= needed[text]}

    async def _find_verifier(self, verified: VerifiedAnswer) -> str:
        location = verified.location
        try:
            person = await self._audience.get_person_at(location, verified.verifier)
        except PlatformError:
            return gettext(review_texts.SOMEBODY)
        return person.name


def provenance_of(verified: VerifiedAnswer) -> Provenance:
    """What readers of a verified answer must be able to read: its sources, and where it was verified."""
    rooms = verified.rooms.union({verified.location.room}, (source.room for source in verified.sources))
    return Provenance(Scope(verified.spaces, rooms), {}, 0.0)


def _widen(used: Scope, newer: Source | None, asked: Scope) -> Scope:
    """What readers must be able to read if they are also shown a link to something newer."""
    if newer is None:
        return used
    if newer.space in asked.spaces:
        return Scope(used.spaces | {newer.space}, used.rooms)
    return Scope(used.spaces, used.rooms | {newer.room})


def can_recognize(text: str, time: datetime, *, is_follow_up: bool) -> bool:
    """Whether a verified answer to a question would be shown when somebody asks the same again."""
    if parse_search_filters(text, time).is_active:
        return False
    question, overview = by_author(Question(text, EMPTY_SCOPE), time)
    return overview is None and _is_plain(question, is_follow_up=is_follow_up)


def _is_plain(question: Question, *, is_follow_up: bool) -> bool:
    """Whether a question asks for a fact, in its own words, among everything in its scope."""
    if question.mode == "bypass" or question.overview is not None or question.filters != Filters() or question.writers:
        return False
    return len(QuestionWords.parse(question.text).stems) >= (FOLLOW_UP_WORDS if is_follow_up else 1)


def _workspaces(scope: Scope) -> set[tuple[str, str]]:
    """The platforms and workspaces of the spaces and rooms of a scope, whose names begin with both."""
    names = (space.split(":") for space in scope.spaces | scope.rooms)
    return {(parts[0], parts[1]) for parts in names if len(parts) > 1}


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
