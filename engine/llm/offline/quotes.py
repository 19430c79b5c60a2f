"""Choosing what to quote, and the wording of the quotations. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.candidates import BEFORE, is_beside
from engine.llm.offline.question import has_kind
from engine.llm.offline.scoring import NEAR
from engine.llm.offline.two_hop import bridge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Quotable
    from engine.llm.offline.ranking import Study
    from engine.llm.offline.scoring import Weighed

# Below this a sentence does not answer. Chosen on 125 questions about two small worlds: 60 of 68 with an answer got it,
# 47 of 57 without one were refused; the other 10 ask for a detail of something that the sources do speak of.
ENOUGH = 0.68
ENOUGH_OF_TWO = 0.75
MOST = 4
_MARGINS = 0.45, 0.3  # of a question, of one of several
# By how much two sentences must support an answer better than any alone.
_BETTER = 0.1
# What a further quotation must at least add: this share of the question, being this much like it.
_ADDS = 0.12
_LIKE = 0.3

_CITED = re.compile(r"\[(\d[\d\s,;–-]*)\]")
_LEANING = re.compile(
    r"(?:and |but |so |then |also )?(?:he|she|it|its|they|his|her|their|this|that|these|those|both|neither|such|"
    r"after that|then|otherwise|the rest|the same|the other)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?…:;,。！？][\"'”’»)\]]*+\Z")
_SHORT = 6
_TIE = 0.05


@dataclass(frozen=True, slots=True)
class Quotation:
    """What is quoted from one source: one or more sentences in a row."""

    number: int
    text: str
    speaker: str = ""
    when: str = ""


def choose(study: Study) -> list[int]:
    """The positions of the sentences that answer, best first by clause; none if nothing does."""
    share = max(1, MOST // max(1, len(study.clauses)))
    chosen: list[int] = []
    for clause in study.clauses:
        beside = _beside(chosen, clause, study.quotables)
        answers = [study.places[at] for at in _answers(clause, study, share)]
        chosen += beside if beside and (clause.brief or not answers) else _of_kind(answers, clause, study.quotables)
    return list(dict.fromkeys(chosen))[:MOST]


def _of_kind(places: list[int], clause: Weighed, said: Sequence[Quotable]) -> list[int]:
    """Those that have what is asked for; if none has, the one beside which it stands, and that; else all.

    A sentence without a number answers no question for a number, and one without a measure of that kind none for it.
    """
    fits = {at: has_kind(said[at].text, clause.wanted, clause.counted) for at in places}
    fitting = [at for at in places if fits[at]]
    if not fitting:
        fitting = next(([at, *beside] for at in places if (beside := _beside([at], clause, said))), [])
    strict = clause.wanted == "quantity" and bool(clause.counted)
    return fitting or [at for at in places if not strict or fits[at] is None]


def _beside(places: Sequence[int], clause: Weighed, said: Sequence[Quotable]) -> list[int]:
    """The sentence next to an answer to what was asked before that has what a clause asks for, if there is one."""
    near = [(at, place) for place in places for at in (place + 1, place - 1, place + 2) if 0 <= at < len(said)]
    beside = (at for at, place in near if is_beside(said[at].source, said[place].source, chat=False))
    return [at for at in beside if has_kind(said[at].text, clause.wanted, clause.counted)][:1]


def quotations(chosen: Sequence[int], quotables: Sequence[Quotable]) -> list[Quotation]:
    """The chosen sentences, with their neighbours where they need them, in the order of choice; none twice."""
    runs: list[list[int]] = []
    for run in (run for at in chosen for run in _runs(at, quotables)):
        joined = next((other for other in runs if _touch(other, run, quotables)), None)
        if joined is None:
            runs.append(run)
        else:
            joined[:] = sorted({*joined, *run})
    return [quotation([quotables[at] for at in run]) for run in runs]


def listed(quoted: Sequence[Quotation]) -> str:
    """One line for each; several are a list."""
    return "\n".join(map(_told, quoted)) if len(quoted) < 2 else "\n".join(f"- {_told(each)}" for each in quoted)


def _told(quotation: Quotation) -> str:
    """One line: “the words” [n], for messages after who said it and when."""
    words = _CITED.sub(r"(\1)", quotation.text)  # a number in the source is no number of ours
    who = f"{quotation.speaker} ({quotation.when} UTC): " if quotation.speaker else ""
    return f"{who}“{words}” [{quotation.number}]"


def _answers(clause: Weighed, study: Study, most: int) -> list[int]:
    """Among the sentences that were looked at, the places of those that answer the clause."""
    best = np.argsort(-clause.score, kind="stable")[:MOST]
    alone = float(clause.support[best].max()) if len(best) else 0.0
    pair = bridge(clause, [study.quotables[at] for at in study.places])
    together = list(pair[:2]) if pair and pair[2] >= max(ENOUGH_OF_TWO, alone + _BETTER) else []
    if alone < ENOUGH:
        return together
    single = _newer_first(_of_clause(clause, most, _MARGINS[len(study.clauses) > 1]), clause, study)
    return [*together, *single][: max(most, len(together))]


def _of_clause(clause: Weighed, most: int, margin: float) -> list[int]:
    """The best one, what adds most to it, and what is nearly as good."""
    ranked = [int(at) for at in np.argsort(-clause.score, kind="stable")]
    first = next(at for at in ranked if clause.support[at] >= ENOUGH)
    chosen = [first]
    extra = _complement(clause, first)
    if extra is not None and most > 1:
        chosen.append(extra)
    floor = clause.score[first] - margin
    as_good = (clause.score >= floor) & (clause.support >= ENOUGH) & _says_itself(clause)
    nearly = (at for at in ranked if at not in chosen and as_good[at])
    return [*chosen, *list(nearly)[: most - len(chosen)]]


def _newer_first(chosen: list[int], clause: Weighed, study: Study) -> list[int]:
    """Those that say as much as the first one by their time, the newest first; then the rest."""
    weights = [term.weight for term in clause.terms]
    least = float(clause.covers[chosen[0]] @ weights) - _TIE * sum(weights)
    equals = [at for at in chosen if float(clause.covers[at] @ weights) >= least]
    times = {at: study.quotables[study.places[at]].time for at in equals}
    dated = sorted((at for at in equals if times[at]), key=lambda at: str(times[at]), reverse=True)
    leading = dated if chosen[0] in dated or len(dated) < len(equals) else equals
    return [*leading, *(at for at in chosen if at not in leading)]


def _complement(clause: Weighed, first: int) -> int | None:
    """The sentence that speaks of what the first leaves open, if it also speaks of something the first does."""
    weights = np.array([term.weight for term in clause.terms])
    total = float(weights.sum()) or 1.0
    adds = np.maximum(clause.covers - clause.covers[first], 0) @ weights / total
    shares = np.minimum(clause.covers, clause.covers[first]) @ weights / total
    fits = (adds >= _ADDS) & (shares >= _ADDS) & (clause.similar >= _LIKE) & _says_itself(clause)
    fit = np.where(fits, clause.score + adds, -1.0)
    best = int(np.argmax(fit))
    return best if fit[best] > 0 else None


def _says_itself(clause: Weighed) -> np.ndarray:
    """Which sentences speak of what is asked in their own words, and not only stand near: "Thank you" does not."""
    asked = [index for index, term in enumerate(clause.terms) if not term.name]
    return np.asarray(clause.covers[:, asked].max(axis=1, initial=0.0 if asked else 1.0) > NEAR)


def _runs(at: int, quotables: Sequence[Quotable]) -> list[list[int]]:
    """Positions that are quoted together, as one quotation each."""
    quotable = quotables[at]
    if not quotable.speaker:
        return [_with_what_it_leans_on(at, quotables)]
    if quotable.asks and at in _before(at + 1, quotables):
        return [[at], [at + 1]]
    if quotable.before and _is_short(quotable) and quotables[quotable.before[-1]].asks:
        return [[quotable.before[-1]], [at]]
    return [[at]]


def _with_what_it_leans_on(at: int, quotables: Sequence[Quotable]) -> list[int]:
    """Sentences of one passage: a pronoun or a short remark goes with what stands before it, a title with its text."""
    run = [at]
    while len(run) <= BEFORE and quotables[run[0]].before and _leans(quotables[run[0]]):
        run.insert(0, quotables[run[0]].before[-1])
    run = run[1:] if len(run) > 1 and quotables[run[0]].is_title else run
    return [*run, at + 1] if quotables[at].is_title and at in _before(at + 1, quotables) else run


def _before(at: int, quotables: Sequence[Quotable]) -> tuple[int, ...]:
    return quotables[at].before if at < len(quotables) else ()


def _leans(quotable: Quotable) -> bool:
    return not quotable.is_title and (bool(_LEANING.match(quotable.text)) or _is_short(quotable))


def _is_short(quotable: Quotable) -> bool:
    return len(quotable.text.split()) <= _SHORT


def _touch(one: Sequence[int], other: Sequence[int], quotables: Sequence[Quotable]) -> bool:
    """Whether two runs overlap, or follow each other in one source that is no conversation."""
    near = any(abs(at - place) <= 1 for at in one for place in other)
    same = quotables[one[0]].source.number == quotables[other[0]].source.number
    return near and same


def quotation(run: Sequence[Quotable]) -> Quotation:
    """Sentences in a row of one source; what ends without a mark, as items of a list do, is set off by one."""
    last = run[-1]
    said = (one.text + ("" if _ENDED.search(one.text) else ":" if one.is_title else ";") for one in run[:-1])
    return Quotation(last.source.number, " ".join([*said, last.text]), last.speaker, last.when)
