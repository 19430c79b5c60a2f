"""Find names by rules: capitalized runs, ids, code, @people and #channels, typed by cues around them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import dropwhile, pairwise
from operator import ne
from typing import TYPE_CHECKING

from engine.llm.offline.names.marked import CODE, find_marked
from engine.llm.offline.names.runs import CAPITALIZED_RUN, is_no_name, split_run
from engine.llm.offline.names.types import CONCEPT, EVENT_ENDINGS, LONE_NOUNS, PERSON, NamedEntity, guess_type
from engine.llm.offline.names.vocabulary import GIVEN_NAMES, looks_common, place_names
from engine.llm.offline.words import is_common
from engine.text.languages.detection import MIN_MAIN_MARGIN, MIN_MARGIN, detect_language, load_function_words
from engine.text.names import clean_name, normalize_name
from engine.text.word_lists import IRREGULAR_FORMS, STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PUNCTUATION = ".,;:!?…()[]{}\"“”‘«»'’*"
_DETERMINERS = word_set(
    """
    a an the this that these those his her my our their its your no some any every each le la les un une des ce cette
    el los las una unos o os um uma ein eine einen einem einer
    """
)
# Function words that follow a verb, an adjective or an adverb rather than a name.
_AFTER_NO_NAME = word_set(
    """
    a an the this that these those my your his her its our their me you him us them it what who whom which how where
    when why than there here up down out of s very too
    """
)
# Words of other languages than English that begin sentences; their function words are known by language.
_CRIES = word_set(
    "danke bitte hallo moin merci bonjour bonsoir salut gracias hola adiós obrigado obrigada olá grazie ciao"
)
# Articles that begin names: "Los Angeles", "La Paz", "Le Havre", "El Paso".
_ARTICLES = word_set("los las la le les el des du il lo")
_FIRST_NAMES = GIVEN_NAMES | _ARTICLES | word_set("da di do dos das del são")
_ARTICLE = ("the ", "The ")
_ENGLISH = word_set("the and of is")
_CONTRACTION = re.compile(r"(?:n['’]t|['’](?:ll|re|ve|m|d))$")
_DOTTED = re.compile(r"(?:^| )(?:[A-Za-z]\.)+[A-Za-z]$")
_YEAR_BEFORE = re.compile(r"\b((?:1[5-9]|20)\d\d) $")
_NEXT_WORD = re.compile(r" ([^\W\d_]+)")
_PLURAL_VERBS = word_set("are were have aren weren haven sind waren sont étaient son eran são eram")
_VERB_ENDINGS = ("s", "ed", "ly", "pt", "lt", "ght")  # and of adverbs
_LIST_GAPS = frozenset({",", "and", ", and", "&", ";", "und", "et", "y", "e"})
_AUTHOR_LENGTH = 8  # characters before a run that show the initials of an author
_MAX_PERSON_WORDS = 4
_MAX_ABBREVIATION = 4  # letters, with a period
_CAPS_SHARE = 0.5
_MIN_CAPS_LENGTH = 20
_MAX_NAME_WORDS = 8
_TYPE_CONTEXT = 40  # characters around a name that are searched for cues of its type


@dataclass(frozen=True, slots=True)
class ExcerptFacts:
    """What the whole excerpt shows about names, all in lower case.

    `people_by_name`: its speakers, by full name and by each part of it that no other speaker has. `capitalized_words`:
    words that are capitalized within a sentence; `lowercase_words`: words that are not; `nouns`: those of them that
    follow an article or the like; `language`: of most of it, "" if unknown.
    """

    people_by_name: Mapping[str, str] = field(default_factory=dict)
    capitalized_words: frozenset[str] = frozenset()
    lowercase_words: frozenset[str] = frozenset()
    nouns: frozenset[str] = frozenset()
    language: str = ""

    @property
    def is_english(self) -> bool:
        return not _ENGLISH.isdisjoint(self.lowercase_words)


def find_entities(sentence: str, facts: ExcerptFacts) -> list[NamedEntity]:
    """The names of a sentence in order; no name twice, none within another."""
    names = find_marked(sentence)
    if not _is_all_caps(sentence):
        names = _join_names(names, _find_capitalized(sentence, facts))
    unique: dict[str, NamedEntity] = {}
    for one in sorted(names, key=lambda one: one.start):
        if key := normalize_name(one.name):
            unique.setdefault(key, one)
    return list(unique.values())


def _join_names(marked: Iterable[NamedEntity], runs: Iterable[NamedEntity]) -> list[NamedEntity]:
    """Both, without runs that begin in marked names or contain code, and without camel case in runs of other words."""
    wide = _list_places(run for run in runs if " " in run.name and not all(map(_is_camel_case, run.name.split())))
    names = [one for one in marked if not (one.start in wide and one.type == CODE and one.name.isalpha())]
    inside, joined = _list_places(names), _list_places(one for one in names if "_" in one.name)
    return names + [run for run in runs if run.start not in inside and joined.isdisjoint(_list_places([run]))]


def _is_camel_case(word: str) -> bool:
    return not word.isupper() and word[1:] != word[1:].lower()


def _list_places(names: Iterable[NamedEntity]) -> set[int]:
    """The places of all characters of names."""
    return {at for one in names for at in range(one.start, one.start + len(one.name))}


def collect_excerpt_facts(sentences: Iterable[str], speakers: Iterable[str]) -> ExcerptFacts:
    """Collect what the sentences and speakers of an excerpt show about its names."""
    sentences = list(sentences)
    capitalized: set[str] = set()
    lowercase: set[str] = set()
    nouns: set[str] = set()
    for sentence in sentences:
        words = sentence.split()
        lowercase.update(word for word in words if word.islower())
        nouns.update(_normalize_word(word) for before, word in pairwise(words) if before.casefold() in _DETERMINERS)
        if not _is_all_caps(sentence):
            inner = (word for before, word in pairwise(words) if word[:1].isupper() and not _ends_clause(before))
            capitalized.update(map(_normalize_word, inner))
    found = detect_language(" ".join(sentences))
    language = found.language if found.margin >= MIN_MAIN_MARGIN else ""
    return ExcerptFacts(
        index_people(speakers), frozenset(capitalized), frozenset(lowercase), frozenset(nouns & lowercase), language
    )


def _ends_clause(word: str) -> bool:
    """Whether the next word is capitalized anyway; not after an initial or an abbreviated title."""
    return word.endswith((".", "!", "?", ":", ";", "—")) and not (word[:1].isupper() and len(word) <= _MAX_ABBREVIATION)


def index_people(speakers: Iterable[str]) -> dict[str, str]:
    """Each speaker by full name and by every part of it that no other speaker has."""
    found: dict[str, str] = {}
    for speaker in sorted(set(speakers)):
        for part in {speaker, *speaker.split()}:
            key = part.casefold()
            found[key] = speaker if found.get(key, speaker) == speaker else ""
    return {key: speaker for key, speaker in found.items() if speaker}


def _find_capitalized(sentence: str, facts: ExcerptFacts) -> list[NamedEntity]:
    """Capitalized runs, without words that are capitalized only as the first of a sentence."""
    first = next((at for at, character in enumerate(sentence) if character.isalnum()), 0)
    found, foreign = [], _list_foreign_words(sentence, facts.language)
    for match in CAPITALIZED_RUN.finditer(sentence):
        for part, offset in split_run(match[0], sentence[max(0, match.start() - _AUTHOR_LENGTH) : match.start()]):
            at = match.start() + offset
            is_first = at <= first or _begins_clause(sentence, at)
            words, start = [part], at
            if not (_is_initials(part) and sentence[:at].endswith(_ARTICLE)):
                words, start = _skip_foreign(part.split(), at, foreign, at_start=is_first)
                words, start = _trim_run(words, start, at_start=is_first and start == at, facts=facts)
            one = _Run(" ".join(words), part[start - at :], start, sentence, is_first=start == at and is_first)
            if entity := _read_name(one, facts, is_whole=start <= first):
                found.append(entity)
    return _spread_persons(found, sentence)


def _list_foreign_words(sentence: str, language: str) -> frozenset[str]:
    """The function words of a sentence's language, or that of the excerpt if it is not clear; none of English."""
    found = detect_language(sentence)
    known = found.language if found.margin >= MIN_MARGIN else language
    return _CRIES if known == "en" else _CRIES | load_function_words().get(known, frozenset())


def _skip_foreign(words: list[str], start: int, foreign: frozenset[str], *, at_start: bool) -> tuple[list[str], int]:
    """The run without function words that begin a sentence or are all of the run; "Ella" of a name stays."""
    skipped = 0
    while skipped < len(words) and (at_start or len(words) == 1) and not words[skipped].isupper():
        folded, is_last = words[skipped].casefold(), skipped == len(words) - 1
        is_article = skipped > 0 and words[skipped].islower()
        if not is_article and (folded not in foreign or (folded in _FIRST_NAMES and not is_last)):
            break
        start += len(words[skipped]) + 1
        skipped += 1
    return words[skipped:], start


@dataclass(frozen=True, slots=True)
class _Run:
    """Capitalized words at a place of a sentence; `written` has the title that was cut, `is_first`: begins a clause."""

    words: str
    written: str
    start: int
    sentence: str
    is_first: bool

    @property
    def before(self) -> str:
        return self.sentence[max(0, self.start - _TYPE_CONTEXT) : self.start]

    @property
    def after(self) -> str:
        end = self.start + len(self.words)
        return self.sentence[end : end + _TYPE_CONTEXT]


def _read_name(run: _Run, facts: ExcerptFacts, *, is_whole: bool) -> NamedEntity | None:
    """The name that a run is, with its type; None if it is none."""
    bare = _strip_possessive(run.words)
    name = clean_name(bare.rstrip("."))
    if run.after.startswith(".") and _DOTTED.search(bare):
        name += "."
    year = _YEAR_BEFORE.search(run.before)
    if year and " " in name and name.casefold().rpartition(" ")[2] in EVENT_ENDINGS:
        name = f"{year[1]} {name}"
    name = facts.people_by_name.get(name.casefold(), name)
    words = run.words.split()
    if not name or is_no_name(name) or (is_whole and _is_heading(words, run.sentence, run.start + len(run.words))):
        return None
    after = run.sentence[run.start + len(bare) :][:_TYPE_CONTEXT]
    entity = NamedEntity(name, guess_type(name, run.written, run.before, after, facts.people_by_name), run.start)
    return None if len(words) == 1 and entity.type != PERSON and _is_word(run, name, facts) else entity


def _is_word(run: _Run, name: str, facts: ExcerptFacts) -> bool:
    """Whether a single word is an adjective, a noun or a cry here, and no name."""
    folded = name.casefold()
    if folded in facts.nouns or folded in LONE_NOUNS:
        return True
    following = _NEXT_WORD.match(run.after)
    next_word = following[1] if following else ""
    if "-" in name and name.rpartition("-")[2].islower() and next_word.islower() and next_word not in STOP_WORDS:
        return True
    is_possessive = _strip_possessive(run.words) != run.words
    if not run.is_first or is_possessive or folded in facts.capitalized_words or folded in facts.people_by_name:
        return False
    is_plural = folded.endswith("s") and not folded.endswith("ss") and next_word in _PLURAL_VERBS
    return (
        (is_plural and folded not in place_names())
        or run.after.startswith("!")
        or (facts.is_english and next_word.islower() and not _may_follow_name(next_word))
    )


def _may_follow_name(word: str) -> bool:
    """Whether an English word may follow the subject of a sentence: a verb, an adverb, "and" and the like."""
    return word in STOP_WORDS - _AFTER_NO_NAME or word in IRREGULAR_FORMS or word.endswith(_VERB_ENDINGS)


def _spread_persons(names: list[NamedEntity], sentence: str) -> list[NamedEntity]:
    """The names, with those of two and more words that stand next to a person in a list as persons, too."""
    spread = list(names)
    for order in (range(1, len(names)), range(len(names) - 2, -1, -1)):
        step = -1 if order.step > 0 else 1
        for at in order:
            one, other = spread[at], spread[at + step]
            left, right = (other, one) if step < 0 else (one, other)
            gap = sentence[left.start + len(left.name) : right.start].strip()
            if one.type == CONCEPT and other.type == PERSON and gap in _LIST_GAPS and _may_be_person(one.name):
                spread[at] = replace(one, type=PERSON)
    return spread


def _may_be_person(name: str) -> bool:
    words = name.split()
    return 1 < len(words) <= _MAX_PERSON_WORDS and all(word[:1].isupper() and not word.isupper() for word in words)


def _begins_clause(sentence: str, start: int) -> bool:
    """Whether a quotation, or what follows a colon or a full stop, begins here."""
    before = sentence[max(0, start - _MAX_ABBREVIATION) : start]
    opened = before.rstrip("\"'“‘«„_*([")
    is_quoted = opened != before and not opened[-1:].isalnum()
    return is_quoted or opened.rstrip().endswith((":", "!", "?", "--", "—", ";"))


def _trim_run(words: list[str], start: int, *, at_start: bool, facts: ExcerptFacts) -> tuple[list[str], int]:
    """The run without leading stop words, and without an ambiguous first word of a sentence."""
    skipped = 0
    while skipped < len(words) and _is_function_word(words[skipped]):
        if skipped and f"{words[skipped - 1]} " in _ARTICLE and _is_initials(words[skipped]):
            return words[skipped:], start
        if not (at_start or len(words) > skipped + 1 or len(words[skipped]) > 1):
            break
        if _keeps_article(words[skipped : skipped + 2], at_start=at_start):
            break
        start += len(words[skipped]) + 1
        skipped, at_start = skipped + 1, False
    words = words[skipped : skipped + _MAX_NAME_WORDS + 1]
    if words and at_start and not _is_name_at_start(words[0], facts) and (len(words) == 1 or is_common(words[0])):
        rest = list(dropwhile(str.islower, words[1:]))
        return rest[:_MAX_NAME_WORDS], start + sum(len(word) + 1 for word in words[: len(words) - len(rest)])
    return words[:_MAX_NAME_WORDS], start


def _is_initials(word: str) -> bool:
    """Whether it is written in capitals only, as abbreviations are."""
    return len(word) > 1 and word.isalpha() and word.isupper()


def _is_function_word(word: str) -> bool:
    return _CONTRACTION.sub("", word.casefold()) in STOP_WORDS


def _keeps_article(words: list[str], *, at_start: bool) -> bool:
    """Whether a Romance article is a part of the name: within a sentence, or of a known place."""
    is_article = len(words) > 1 and words[0].casefold() in _ARTICLES
    return is_article and (not at_start or " ".join(words).casefold() in place_names())


def _is_name_at_start(word: str, facts: ExcerptFacts) -> bool:
    """Whether the first word of a sentence is a name: it is one elsewhere, or it is not a common word."""
    bare = _normalize_word(word)
    known = bare in facts.capitalized_words or bare in facts.people_by_name
    listed = bare in GIVEN_NAMES or bare in place_names()
    return known or listed or not (bare in facts.lowercase_words or is_common(bare) or looks_common(bare))


def _normalize_word(word: str) -> str:
    return _strip_possessive(word.strip(_PUNCTUATION)).casefold()


def _strip_possessive(name: str) -> str:
    return name.removesuffix("'s").removesuffix("’s").rstrip("'’")


def _is_heading(words: list[str], sentence: str, end: int) -> bool:
    """Whether it is a single word that makes up nearly all of a line, or the kind of the id that follows."""
    is_person = _normalize_word(words[0]) in GIVEN_NAMES
    alone = not is_person and len(sentence) < len("".join(words)) + _MIN_CAPS_LENGTH // 2
    return len(words) == 1 and (alone or sentence[end : end + 2].strip().isdigit())


def _is_all_caps(sentence: str) -> bool:
    upper = sum(map(ne, sentence, sentence.lower()))
    return len(sentence) > _MIN_CAPS_LENGTH and upper > _CAPS_SHARE * len(sentence)
