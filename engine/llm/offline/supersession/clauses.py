"""Split statements into clauses, each with its subject, values and cues. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.offline.supersession import cues
from engine.llm.offline.supersession.values import CALENDAR_NAMES, Value, find_values
from engine.llm.offline.words import is_generic, is_stop_word, stem
from engine.text.word_lists import word_set

if TYPE_CHECKING:
    from datetime import datetime

MAX_LENGTH = 600  # characters of a statement that are looked at
MAX_SUBJECT_WORDS = 4  # that a pronoun stands for
LONG_CUE = 4  # words
MAX_CLAUSES = 8  # of a statement; every one is compared with every one of others
_BREAK = re.compile(
    r"[;!?\n]|(?<!\d)(?<!\bM[rs])(?<!\bMrs)(?<!\b[DHFS]r)(?<!\bSra)(?<!\bProf)[.](?=\s|\Z)|"
    r"(?<=\d)[.](?=\s[^\W\d])|"
    r",(?=\s)|\s[—–-]\s|[。；！？]|(?<=[がでどめし])、"
    r"|\s(?=(?:because|so|since (?:we|they|he|she|it|i|there)|but|"
    r"and (?:is|are|will)|weil|denn|aber|parce que|car|mais|porque|pero|pois|porém)\s)",
    re.IGNORECASE,
)
# A cell of a row, as "Price: 480 euros".
_CELL = re.compile(r"[^:]{1,40}: (.{1,60})")
_PRONOUN = re.compile(
    r"(?:and |und |et |y |e )?(?:it|they|she|he|er|sie|il|elle|ils|elles|él|ella|ele|ela)(?= )", re.IGNORECASE
)
_SUBJECT_END = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|ist|sind|war|hat|wird|est|sont|a|ont|es|son|está|ha|é|são|foi|tem)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[ァ-ヴー]+|[一-龥々]+|(?:(?![ぁ-ヿ一-龥])\w)+(?:[-'’_](?:(?![ぁ-ヿ一-龥])\w)+)*")
_UNIT_BEFORE, _UNIT_AFTER = re.compile(r"([^\W\d_]{3,30})[ -]\Z"), re.compile(r" ([a-z]{3,30})\b")
# Where the words end, and begin, that are said to hold no longer.
_FORMER_END = re.compile(
    r"[.;,。、]\s|\s(?:to|by|with|for|as|als|comme|como|à|a|auf|nach|durch|für|par|por|para|pour)\s"
)
_FORMER_START = re.compile(r"[.;,。、は]\s?")
_QUESTION = re.compile(r"[?？][\"'”’»)\]]*\Z|ですか[。]?\Z|ますか[。]?\Z")
_NOT_AFTER_WEEKDAY = word_set(
    """
    now instead morning afternoon evening night noon next week sharp jetzt statt statts früh nachmittag abend vormittag
    um prochain matin soir midi désormais próximo por tarde noche ahora agora noite that because already
    """
)
_SUBJECT_VERBS = word_set("is are was ist wird est es é será sera")
# Other forms of the words that say what happens with a subject: starts, taking.
_LIGHT_STEMS = frozenset(
    map(
        stem, word_set("start begin take happen meet hold run open occur remain stay need want use make give keep plan")
    )
)
_RELEASES = dict.fromkeys(map(stem, cues.RELEASES), "release")
_OTHER_VERB = re.compile(r"\b(?:is|are|was|were|be|been|will|has|have|had|can|must|does|do|costs?)\b", re.IGNORECASE)
_AFTER_VERB = re.compile(r" (?:on|at|in|from|to|until|by|for|with|the|a|an|our|every|only|now|about)\b")
_POSSESSIVE = re.compile(r"['’]s\Z")


class Word(NamedTuple):
    """A word of a subject. `named`: it looks like a name.

    `compound`: it follows the word before it at once; `link`: after an article (1) or "of", "for" (2), else 0.
    """

    stem: str
    start: int
    named: bool
    compound: bool
    link: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a statement that says one thing; the other fields are its cues."""

    text: str
    words: tuple[Word, ...]
    values: tuple[Value, ...]
    changes: bool
    cancels: bool
    stems: frozenset[str]
    names: frozenset[str]
    has_role: bool
    has_use: bool
    adds: bool
    begins: bool
    ends: bool
    kinds: frozenset[str]
    negates: bool
    states: tuple[tuple[int, int], ...]

    def find_modifiers(self, about: str) -> frozenset[str]:
        """The words that say which one is meant: those before it ("app release"), and after "of" or "for"."""
        found: set[str] = set()
        for at, word in enumerate(self.words):
            if word.stem != about:
                continue
            before = at
            while self.words[before].compound and (self.words[before - 1].named or not self.words[before].named):
                before -= 1
                found.add(self.words[before].stem)
            after = at + 1
            while after < len(self.words) and (
                self.words[after].link or (after > at + 1 and self.words[after].compound)
            ):
                found.add(self.words[after].stem)
                after += 1
        return frozenset(found)

    def find_head(self, about: str) -> str:
        """The word that a word only describes: the shipping, of "the shipping for the pump" and "the pump shipping"."""
        at = next(at for at, word in enumerate(self.words) if word.stem == about)
        first, last = at, at
        while self.words[first].compound:
            first -= 1
        while last + 1 < len(self.words) and self.words[last + 1].compound:
            if self.words[last + 1].named and not self.words[last].named:
                break  # "call Sentinel"
            last += 1
        if self.words[first].link == 2:
            return self.find_head(self.words[first - 1].stem)
        return self.words[last].stem

    def find_noun(self, about: str) -> str:
        """The last word of the compound that a word belongs to."""
        at = next(at for at, word in enumerate(self.words) if word.stem == about)
        while at + 1 < len(self.words) and self.words[at + 1].compound:
            at += 1
        return self.words[at].stem


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says, apart from who says it and when."""

    clauses: tuple[Clause, ...]
    is_question: bool
    is_tentative: bool
    is_past: bool
    is_temporary: bool
    is_recurring: bool
    is_personal: bool
    contradicts: bool
    former: frozenset[str]
    stems: frozenset[str]
    changes: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a message, with what is known about where it stands.

    `previous`: the position of the message before it in its conversation, -1 if there is none. `heading`: title and
    heading of a file, which name its subject.
    """

    text: str
    time: datetime | None = None
    speaker: str = ""
    room: str = ""
    document: str = ""
    previous: int = -1
    heading: str = ""

    @property
    def parsed(self) -> Parsed:
        return parse_text(self.text)


@lru_cache(maxsize=4096)
def parse_text(text: str) -> Parsed:
    """Parse a statement; of a long one only the beginning."""
    text = " ".join(text.split())[:MAX_LENGTH]
    parts = [clause for part in _complete(_split(text)[:MAX_CLAUSES]) if (clause := _parse_clause(part)) is not None]
    return Parsed(
        tuple(parts),
        bool(_QUESTION.search(text)),
        bool(cues.TENTATIVE.search(text)),
        bool(cues.PAST.search(text)),
        bool(cues.TEMPORARY.search(text)),
        bool(cues.RECURRING.search(text)),
        _is_personal(text),
        bool(cues.CONTRADICTION.match(text)) or _corrects(text),
        _find_former(text),
        frozenset[str]().union(*(clause.stems for clause in parts)),
        any(clause.changes for clause in parts),
    )


def _corrects(text: str) -> bool:
    """Whether a short message gives another value of what the message before it said."""
    return len(text) <= cues.MAX_CORRECTION and bool(cues.CORRECTED_BY.search(text))


def _split(text: str) -> list[str]:
    """The clauses; a break within a value is none."""
    values = find_values(text)
    breaks = (
        found.end()
        for found in _BREAK.finditer(text)
        if not any(value.start < found.start() < value.stop - 1 for value in values)
    )
    parts = (text[start:stop].strip() for start, stop in pairwise([0, *breaks, len(text)]))
    return [part for part in parts if part]


def _is_personal(text: str) -> bool:
    """Whether a text is about its author, who does more in it than change something."""
    found = list(cues.FIRST_PERSON.finditer(text))
    changed = (cues.BY_SPEAKER.match(text, match.start()) for match in found)
    return not all(match is not None and cues.CHANGE.match(text, match.end()) for match in changed)


def _complete(parts: list[str]) -> list[str]:
    """The clauses, with their subjects: the first cell of a row for its other cells, what a pronoun stands for."""
    cells = [_CELL.fullmatch(part) for part in parts]
    if len(parts) > 1 and all(cells):
        first = cells[0][1] if cells[0] else ""
        return [parts[0], *(f"{first} {part}" for part in parts[1:])]
    completed = parts[:1]
    for before, part in pairwise(parts):
        pronoun, verb = _PRONOUN.match(part), _SUBJECT_END.search(before)
        subject = before[: verb.start()].strip() if verb is not None else ""
        is_short = 0 < len(subject.split()) <= MAX_SUBJECT_WORDS
        completed.append(f"{subject} {part[pronoun.end() :]}" if pronoun is not None and is_short else part)
    return completed


def _parse_clause(text: str) -> Clause | None:
    values = find_values(text)
    words = tuple(_find_words(text, values) or _find_plain_words(text, values))
    changes = bool(cues.CHANGE.search(text))
    cancels = bool(cues.CANCELED.search(text))
    if not (words or values or changes or cancels):
        return None
    stems, names = (frozenset(word.stem for word in some) for some in (words, [word for word in words if word.named]))
    has_role, has_use = bool(cues.ROLE.search(text)), bool(cues.USE.search(text))
    adds = bool(cues.ADDITION.search(text))
    begins, ends = bool(cues.BEGINNING.search(text)), bool(cues.END.search(text))
    kinds = frozenset(value.kind for value in values)
    negates = bool(cues.NEGATION.search(text))
    states = tuple(
        (scale, side) for scale, sides in enumerate(cues.SCALES) for side, form in enumerate(sides) if form.search(text)
    )
    return Clause(
        text,
        words,
        values,
        changes,
        cancels,
        stems,
        names,
        has_role,
        has_use,
        adds,
        begins,
        ends,
        kinds,
        negates,
        states,
    )


def _find_words(text: str, values: tuple[Value, ...]) -> list[Word]:
    """The words that say what a clause is about, without values and cues."""
    taken = [(value.start, value.stop) for value in values if not _is_modifier(text, value, values)]
    said = (cues.CHANGE, cues.CANCELED, *(side for scale in cues.SCALES for side in scale))
    taken += [span for pattern in said for match in pattern.finditer(text) for span in _list_cue_spans(match)]
    found: list[Word] = []
    last_stop = -1
    for match in _WORD.finditer(text):
        raw = match[0]
        base = _POSSESSIVE.sub("", raw)
        if any(start < match.end() and match.start() < stop for start, stop in taken) or not _matters(
            base, match.start()
        ):
            continue
        gap = text[last_stop : match.start()].casefold().split() if found else ["|"]
        is_next = bool(found) and not _is_verb(match, text) and not "".join(gap).replace("-", "").replace("の", "")
        is_linked = not is_next and bool(found) and bool(gap) and all(word in cues.LINK_WORDS for word in gap)
        link = 0 if not is_linked else 2 if any(word in cues.PREPOSITIONS for word in gap) else 1
        named = (raw[:1].isupper() and (match.start() > 0 or not is_generic(raw))) or (
            raw[0] > "\u3000" and "は" in text[: match.start()]
        )
        found.append(
            Word(_RELEASES.get(stem(base), stem(base)), match.start(), named or raw[:1].isdigit(), is_next, link)
        )
        last_stop = match.end()
    return found


def _list_cue_spans(match: re.Match[str]) -> list[tuple[int, int]]:
    """Where a cue stands; of a long one only its ends, as others stand between them: "put the lamps into"."""
    words = list(_WORD.finditer(match[0]))
    if len(words) < LONG_CUE:
        return [match.span()]
    return [(match.start() + word.start(), match.start() + word.end()) for word in (words[0], words[-1])]


def _is_verb(match: re.Match[str], text: str) -> bool:
    """Whether a word is a verb for a role, or in -s that of a clause that has no other: "Tern 4 ships on 19 May"."""
    raw = match[0]
    if cues.VERBS.fullmatch(raw):
        return True
    if not (raw.islower() and raw.endswith("s") and not raw.endswith("ss")) or _OTHER_VERB.search(text):
        return False
    return bool(_AFTER_VERB.match(text, match.end()))


def _is_modifier(text: str, value: Value, values: tuple[Value, ...]) -> bool:
    """Whether a value says which one is meant: "Thursday's standup", "Thursday standup", "phase 2 ends on 3 May"."""
    if value.kind in {"number", "code"} and "." not in value.form:  # "firmware 2.4" has a version
        before = _UNIT_BEFORE.search(text[max(0, value.start - 32) : value.start])
        named = before is not None and _matters(before[1], 1) and not cues.CHANGE.fullmatch(before[1])
        verb = text[value.stop : value.stop + 6].casefold().split()
        is_subject = bool(verb) and verb[0] in _SUBJECT_VERBS
        return named and (
            is_subject or any(value_.start > value.start and value_.kind not in {"number", "code"} for value_ in values)
        )
    if value.kind != "date" or not value.form.startswith("weekday"):
        return False
    rest = text[value.stop :]
    if rest[:2] in {"'s", "’s"}:
        return True
    following = _UNIT_AFTER.match(rest)
    return following is not None and not is_stop_word(following[1]) and following[1] not in _NOT_AFTER_WEEKDAY


def _matters(word: str, start: int) -> bool:
    """Whether a word at this place in its clause says which subject is meant."""
    if len(word) == 1:
        return word.isdigit() or ord(word) > 0x3000 or (word.isupper() and start > 0 and word not in "IOEYÀÉ")
    if word.casefold().endswith(("n't", "n’t")):
        return False
    return not is_stop_word(word) and word.casefold() not in cues.LIGHT_WORDS and stem(word) not in _LIGHT_STEMS


def _find_plain_words(text: str, values: tuple[Value, ...]) -> list[Word]:
    """The words of a name that has only words that say little elsewhere: "open day"."""
    spans = [(value.start, value.stop) for value in values]
    spans += [match.span() for pattern in (cues.CHANGE, cues.CANCELED) for match in pattern.finditer(text)]
    plain = [
        match
        for match in _WORD.finditer(text)
        if len(match[0]) > 2
        and not is_stop_word(match[0])
        and not any(a < match.end() and match.start() < b for a, b in spans)
    ]
    found = [Word(stem(match[0]), match.start(), named=False, compound=False, link=0) for match in plain]
    adjacent = any(text[one.end() : two.start()] == " " for one, two in pairwise(plain))
    return found if adjacent else []


def _find_former(text: str) -> frozenset[str]:
    """The words and values that are said to hold no longer: "instead of Tuesday"; "11 euros rather than 10".

    A number beside a price or a time is one, too.
    """
    found: set[str] = set()
    for match in cues.FORMER_AFTER.finditer(text):
        found |= list_tokens(_FORMER_END.split(text[match.end() : match.end() + 60])[0])
    for match in cues.FORMER_BEFORE.finditer(text):
        found |= list_tokens(_FORMER_START.split(text[max(0, match.start() - 40) : match.start()])[-1])
    found |= {stem(match[1]) for match in cues.SINCE_SOMEBODY.finditer(text)}
    numbers = [token.partition(" ")[2] for token in found if token.startswith("number ")]
    kinds = {value.kind for value in find_values(text)} if numbers else set[str]()
    found |= {f"money {number.replace(',', '.')}" for number in numbers if "money" in kinds}
    found |= {f"time {number}:0" for number in numbers if "time" in kinds}
    return frozenset(found)


@lru_cache(maxsize=8192)
def list_tokens(text: str) -> frozenset[str]:
    """The stems of the words that matter, and the values by kind and form."""
    values = find_values(text)
    spans = [(value.start, value.stop) for value in values]
    words = {
        _RELEASES.get(key, key)
        for match in _WORD.finditer(text)
        for key in [stem(_POSSESSIVE.sub("", match[0]))]
        if _matters(match[0], match.start())
        and not any(a < match.end() and match.start() < b for a, b in spans)
        and match[0].casefold() not in CALENDAR_NAMES
    }
    days = {f"date /{value.form.partition('/')[2]}" for value in values if value.kind == "date" and "/" in value.form}
    return frozenset(words | {f"{value.kind} {value.form}" for value in values} | days)
