"""Recognize what a standing request waits for: that its subject is mentioned, decided, or has another value. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engine.llm.offline.candidates import build_candidates, split_source
from engine.llm.offline.points.settled import list_parts, list_settled
from engine.llm.offline.supersession.clauses import parse_text
from engine.llm.offline.supersession.sources import find_replaced
from engine.llm.offline.words import content_stems, split_words, stem
from engine.text.languages.unspaced import has_unspaced
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.supersession.clauses import Clause
    from engine.models import Passage, Source

WatchKind = Literal["mentioned", "decided", "changed"]

# Words of a subject that only say of which kind its value is, with the kinds.
_VALUE_WORDS = (
    (
        compile_late(
            r"\b(?:dates?|days?|times?|deadlines?|schedules?|datum|termine?|uhrzeit|tag|frist|dates?|jour|heure|"
            r"échéance|fechas?|día|hora|plazo|datas?|dia|prazo)\b|日(?:程|付|時)?|期限|時間",
            re.IGNORECASE,
        ),
        frozenset({"date", "time"}),
    ),
    (
        compile_late(
            r"\b(?:prices?|costs?|budgets?|fees?|rents?|preise?|kosten|gebühr|prix|coûts?|loyer|precios?|costes?|"
            r"alquiler|preços?|custos?|aluguel|orçamento|presupuesto)\b|価格|値段|予算|料金",
            re.IGNORECASE,
        ),
        frozenset({"money", "number"}),
    ),
)
_COMPOUND = compile_late(r"\b(\w{3,30}?)s?(datum|termin|preis|frist|kosten)\b", re.IGNORECASE)
_FUNCTION_WORDS = compile_late(
    r"\b(?:of|for|the|a|an|our|des|der|die|das|den|vom|von|für|unser\w*|du|de|la|le|les|l|d|pour|notre|nos|del|el|los|"
    r"las|para|nuestr[oa]|do|da|o|os|as|noss[oa])\b|の",
    re.IGNORECASE,
)
_EXCLUDED = compile_late(
    r"\b(?:not|nothing|except|excluding|apart from|other than|instead of|rather than|without|unlike|nicht|nichts|außer|"
    r"statt|anstatt|ohne|sauf|sans|au lieu d[eu]|excepto|salvo|sin|en (?:vez|lugar) de|exceto|sem|em vez d[eoa]|"
    r"pas) (?:(?:about|on|the|for|über|den|die|das|le|la|l['’]|el|o|a|de) ?){0,3}\Z",
    re.IGNORECASE,
)
_POINTS_BACK = compile_late(
    r"\b(?:it|this|that|them|these|those|so|es|das|dies|ihn|sie|so|ça|cela|le|la|les|lo|eso|esto|isso|isto|"
    r"agreed|approved|décidé|beschlossen|aprobado|aprovado)\b|それ|これ|その",
    re.IGNORECASE,
)
# Verbs by which a thing itself changes; other words for a change ("now", "new") need a value beside them.
_MOVES = compile_late(
    r"\b(?:mov(?:e|ed|es|ing)|shift(?:ed|s)?|postponed?|delayed|slip(?:s|ped)|brought forward|push(?:ed|es)|"
    r"rescheduled|chang(?:e|ed|es|ing)|switch(?:ed|es)?|replac(?:e|ed|es)|raised|raises|increas(?:ed|es)|lower(?:ed|s)|"
    r"reduc(?:ed|es)|renam(?:ed|es)|relocat(?:ed|es)|updated|verschoben|verlegt|verschieb\w{1,4}|vorgezogen|geändert|ändert|ersetzt|"
    r"umgezogen|zieht um|erhöht|gesenkt|wechselt|report\w{1,4}|déplac\w{1,4}|décal\w{1,4}|avancée?|chang(?:e|é|ée)|"
    r"remplac\w{1,4}|augment\w{1,4}|baiss\w{1,4}|aplaz\w{1,4}|pospuest\w|traslad\w{1,4}|adelant\w{1,4}|cambi\w{1,5}|"
    r"sub(?:e|ió)|baj(?:a|ó)|adiad\w|remarcad\w|transferid\w|mud(?:a|ou|ada|ado)|antecipad\w)\b|"
    r"変更|延長|延期|移動|移転|に変わ|になりました|になった|前倒し|値上げ|値下げ|移行",
    re.IGNORECASE,
)
MAX_COMPARED = 60  # sentences or messages before one, of which it may replace one
MAX_WORDS_OF_REPLY = 6  # content words of a decision that takes its subject from the message before


@dataclass(frozen=True, slots=True)
class Subject:
    """What a standing request is about: its words, the stems that a message must have, and the kinds of its value."""

    words: str
    stems: frozenset[str]
    kinds: frozenset[str] = frozenset()

    def is_named_in(self, text: str) -> bool:
        """Whether a text names it: all of its words in any order, or, without spaces between words, as it is."""
        if has_unspaced(self.words):
            return self.words.casefold() in text.casefold()
        return bool(self.stems) and self.stems <= _list_stems(text) | _list_stems(_COMPOUND.sub(r"\1 \2", text))


class WatchedSources:
    """Passages by time, among which events are found."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._candidates = build_candidates(sources)

    def list_events(
        self,
        kind: WatchKind,
        words: str,
        among: Collection[Source] | None = None,
        is_new: Callable[[str], bool] | None = None,
    ) -> list[Source]:
        """The passages that are what is waited for, each once, in their order; of long ones the sentences that are.

        `among`: only these; the others are what was said before. `is_new`: whether a sentence or message may be.
        """
        subject, candidates = parse_subject(words), self._candidates
        asked = None if among is None else {_identify(source) for source in among}
        places = [at for at, one in enumerate(candidates) if asked is None or _identify(one.source) in asked]
        named = frozenset(at for at, one in enumerate(candidates) if subject.is_named_in(one.text))
        found = dict[tuple[str, str], list[int]]()
        for at in places:
            if (is_new is None or is_new(candidates[at].text)) and _is_event(kind, subject, at, candidates, named):
                found.setdefault(_identify(candidates[at].source), []).append(at)
        return [self._quote(events, named) for events in found.values()]

    def _quote(self, events: Sequence[int], named: Collection[int]) -> Source:
        """The passage of some sentences, with these as its text, and the ones before that they point back to."""
        source = self._candidates[events[0]].source
        is_one = [at for at, one in enumerate(self._candidates) if one.source is source]
        if len(is_one) == 1:
            return source
        back = {at - 1 for at in events if at not in named and at - 1 in is_one}
        shown = sorted({*events, *back})
        parts = [f"{'' if at - 1 in shown or at == shown[0] else '… '}{self._candidates[at].text}" for at in shown]
        return replace(source, text=" ".join(parts))


def list_statements(passage: Passage) -> list[str]:
    """The sentences of a passage, or the message that it is, as events are found among them."""
    return [piece.text for _, _, piece in split_source(passage)]


def _identify(source: Source) -> tuple[str, str]:
    return source.document, source.passage


def parse_subject(words: str) -> Subject:
    """The subject with these words. A word for a kind of values is one of it only if there is no other."""
    kinds = frozenset[str]()
    rest = _COMPOUND.sub(r"\1 \2", words)
    for pattern, named in _VALUE_WORDS:
        if pattern.search(rest):
            kinds |= named
            rest = pattern.sub(" ", rest)
    if kinds and (rest := _FUNCTION_WORDS.sub(" ", rest).strip()):
        plain = "".join(rest.split()) if has_unspaced(rest) else " ".join(rest.split())
        return Subject(plain, _list_stems(plain), kinds)
    return Subject(words, _list_stems(words), kinds)


def _is_event(
    kind: WatchKind, subject: Subject, at: int, candidates: Sequence[Candidate], named: Collection[int]
) -> bool:
    """Whether a sentence or message is what is waited for.

    `candidates`: with it, what was said before; `named`: the positions of those that name the subject.
    """
    match kind:
        case "mentioned":
            return at in named
        case "decided":
            return _is_decided(subject, at, candidates)
        case "changed":
            is_announced = at in named and _announces(subject, candidates[at])
            return is_announced or _replaces(subject, at, candidates, named)


def _list_stems(text: str) -> frozenset[str]:
    return content_stems(text) or frozenset(map(stem, split_words(text)))


def _is_decided(subject: Subject, at: int, candidates: Sequence[Candidate]) -> bool:
    """Whether a decision names the subject, or points back to the sentence or message before, which does."""
    one = candidates[at]
    parts = list_parts(one.text)
    for text in list_settled(one):
        if subject.is_named_in(text):
            return not _is_excluded(subject, text)
        place = parts.index(text)
        before = parts[place - 1] if place else candidates[one.preceding[-1]].text if one.preceding else ""
        is_short = len(content_stems(text)) <= MAX_WORDS_OF_REPLY and _POINTS_BACK.search(text)
        if before and is_short and subject.is_named_in(before):
            return True
    return False


def _is_excluded(subject: Subject, text: str) -> bool:
    """Whether a text says that something is not about the subject, or takes its place."""
    first = (subject.words.split() or [""])[0].casefold()
    at = text.casefold().find(first)
    return at > 0 and bool(_EXCLUDED.search(text[:at]))


def _announces(subject: Subject, one: Candidate) -> bool:
    """Whether a clause says that the subject changed: by the word for it, or with a value of its kind."""
    parsed = parse_text(one.text)
    if parsed.is_question or parsed.is_tentative:
        return False
    return any(_changes(subject, clause) for clause in parsed.clauses)


def _changes(subject: Subject, clause: Clause) -> bool:
    if not (clause.changes or clause.cancels) or (clause.negates and not clause.cancels):
        return False
    if not subject.is_named_in(clause.text) or _is_excluded(subject, clause.text):
        return False
    if subject.kinds:
        return bool(clause.kinds & subject.kinds) or clause.cancels or _names_kind(clause.text)
    if not (clause.cancels or clause.values or _MOVES.search(clause.text)):
        return False
    named = clause.stems & subject.stems
    return not named or any(clause.find_head(text) in subject.stems for text in named)


def _names_kind(text: str) -> bool:
    return any(pattern.search(text) for pattern, _ in _VALUE_WORDS)


def _replaces(subject: Subject, at: int, candidates: Sequence[Candidate], named: Collection[int]) -> bool:
    """Whether it replaces an earlier statement about the subject, with a value of its kind.

    Statements are compared only if one of the two may be about the subject, which takes the longest by far.
    """
    first = max(0, at - MAX_COMPARED)
    may_be = [old for old in range(first, at) if at in named or old in named]
    if not any(_is_earlier(candidates[old], candidates[at]) for old in may_be):
        return False
    kinds = frozenset[str]().union(*(clause.kinds for clause in parse_text(candidates[at].text).clauses))
    if subject.kinds and not (subject.kinds & kinds):
        return False
    replaced = find_replaced(candidates[first : at + 1])
    return any(replaced.get(old - first) == at - first for old in may_be)


def _is_earlier(old: Candidate, new: Candidate) -> bool:
    return old.source.time is not None and new.source.time is not None and old.source.time < new.source.time
