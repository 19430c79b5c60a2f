"""Select sentences to quote, and render the quotations. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.candidates import PRECEDING_COUNT, is_adjacent
from engine.llm.offline.question import has_answer_type
from engine.llm.offline.scoring import CONTEXT_SHARE
from engine.llm.offline.two_hop import find_two_hop_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import RankedSentences
    from engine.llm.offline.scoring import ClauseScores

# Minimum support of an answer. Chosen on 125 questions about two small worlds: 60 of 68 with an answer got it, 47 of 57
# without one were refused; the other 10 ask for a detail of a topic that the sources do cover.
MIN_SUPPORT = 0.68
MIN_PAIR_SUPPORT = 0.75
MAX_QUOTES = 4
_SCORE_MARGINS = 0.45, 0.3  # for one clause of a question with several
# By how much two sentences must support an answer better than any single one.
_PAIR_ADVANTAGE = 0.1
# What a further quotation must add: this share of the question, with at least this similarity to it.
_MIN_ADDED_SHARE = 0.12
_MIN_SIMILARITY = 0.3

_CITATION = re.compile(r"\[(\d[\d\s,;–-]*)\]")
_CONTEXT_DEPENDENT = re.compile(
    r"(?:and |but |so |then |also )?(?:he|she|it|its|they|his|her|their|this|that|these|those|both|neither|such|"
    r"after that|then|otherwise|the rest|the same|the other)\b",
    re.IGNORECASE,
)
_TERMINATED = re.compile(r"[.!?…:;,。！？][\"'”’»)\]]*+\Z")
_SHORT_WORDS = 6
_TIE_MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class Quotation:
    """One or more consecutive sentences quoted from one source."""

    number: int
    text: str
    speaker: str = ""
    time_text: str = ""


def select_answers(ranked: RankedSentences) -> list[int]:
    """Positions of the sentences that answer, best first by clause; none if nothing does."""
    share = max(1, MAX_QUOTES // max(1, len(ranked.clauses)))
    chosen: list[int] = []
    for clause in ranked.clauses:
        beside = _find_adjacent_answer(chosen, clause, ranked.candidates)
        answers = [ranked.positions[at] for at in _answer_clause(clause, ranked, share)]
        chosen += (
            beside
            if beside and (clause.has_hint or not answers)
            else _filter_by_answer_type(answers, clause, ranked.candidates)
        )
    return list(dict.fromkeys(chosen))[:MAX_QUOTES]


def _filter_by_answer_type(positions: list[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[int]:
    """Sentences with the answer type; if there are none, the one next to such a sentence, and that; else all.

    A sentence without a number cannot answer a question for a number, nor one without a unit of that kind.
    """
    fits = {at: has_answer_type(candidates[at].text, clause.answer_type, clause.counted_stems) for at in positions}
    fitting = [at for at in positions if fits[at]]
    if not fitting:
        fitting = next(
            ([at, *beside] for at in positions if (beside := _find_adjacent_answer([at], clause, candidates))), []
        )
    strict = clause.answer_type == "quantity" and bool(clause.counted_stems)
    return fitting or [at for at in positions if not strict or fits[at] is None]


def _find_adjacent_answer(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[int]:
    """The sentence next to a previous answer that has the answer type of a clause, if there is one."""
    near = [(at, place) for place in positions for at in (place + 1, place - 1, place + 2) if 0 <= at < len(candidates)]
    beside = (at for at, place in near if is_adjacent(candidates[at].source, candidates[place].source, chat=False))
    return [at for at in beside if has_answer_type(candidates[at].text, clause.answer_type, clause.counted_stems)][:1]


def build_quotations(chosen: Sequence[int], candidates: Sequence[Candidate]) -> list[Quotation]:
    """Quotations of the chosen sentences, with neighbors where they need them, in the order of choice; none twice."""
    runs: list[list[int]] = []
    for run in (run for at in chosen for run in _quote_runs(at, candidates)):
        joined = next((other for other in runs if _is_joinable(other, run, candidates)), None)
        if joined is None:
            runs.append(run)
        else:
            joined[:] = sorted({*joined, *run})
    return [build_quotation([candidates[at] for at in run]) for run in runs]


def render_quotations(quoted: Sequence[Quotation]) -> str:
    """One line per quotation; several form a list."""
    return (
        "\n".join(map(_render_quote, quoted))
        if len(quoted) < 2
        else "\n".join(f"- {_render_quote(each)}" for each in quoted)
    )


def _render_quote(quotation: Quotation) -> str:
    """One line: “the words” [n]; for messages after speaker and time."""
    words = _CITATION.sub(r"(\1)", quotation.text)  # a number in the source is not one of our citations
    who = f"{quotation.speaker} ({quotation.time_text} UTC): " if quotation.speaker else ""
    return f"{who}“{words}” [{quotation.number}]"


def _answer_clause(clause: ClauseScores, ranked: RankedSentences, most: int) -> list[int]:
    """The positions, among the ranked sentences, of those that answer the clause."""
    best = np.argsort(-clause.score, kind="stable")[:MAX_QUOTES]
    alone = float(clause.support[best].max()) if len(best) else 0.0
    pair = find_two_hop_pair(clause, [ranked.candidates[at] for at in ranked.positions])
    together = list(pair[:2]) if pair and pair[2] >= max(MIN_PAIR_SUPPORT, alone + _PAIR_ADVANTAGE) else []
    if alone < MIN_SUPPORT:
        return together
    single = _order_newest_first(
        _select_for_clause(clause, most, _SCORE_MARGINS[len(ranked.clauses) > 1]), clause, ranked
    )
    return [*together, *single][: max(most, len(together))]


def _select_for_clause(clause: ClauseScores, most: int, margin: float) -> list[int]:
    """The best sentence, those that add most to it, and those that are nearly as good."""
    ranked = [int(at) for at in np.argsort(-clause.score, kind="stable")]
    first = next(at for at in ranked if clause.support[at] >= MIN_SUPPORT)
    chosen = [first]
    extra = _find_complement(clause, first)
    if extra is not None and most > 1:
        chosen.append(extra)
    floor = clause.score[first] - margin
    as_good = (clause.score >= floor) & (clause.support >= MIN_SUPPORT) & _own_words_mask(clause)
    nearly = (at for at in ranked if at not in chosen and as_good[at])
    return [*chosen, *list(nearly)[: most - len(chosen)]]


def _order_newest_first(chosen: list[int], clause: ClauseScores, ranked: RankedSentences) -> list[int]:
    """Sort those as good as the first one by time, newest first; then the rest."""
    weights = [term.weight for term in clause.terms]
    least = float(clause.coverage[chosen[0]] @ weights) - _TIE_MARGIN * sum(weights)
    equals = [at for at in chosen if float(clause.coverage[at] @ weights) >= least]
    times = {at: ranked.candidates[ranked.positions[at]].time for at in equals}
    dated = sorted((at for at in equals if times[at]), key=lambda at: str(times[at]), reverse=True)
    leading = dated if chosen[0] in dated or len(dated) < len(equals) else equals
    return [*leading, *(at for at in chosen if at not in leading)]


def _find_complement(clause: ClauseScores, first: int) -> int | None:
    """The sentence that covers what the first one leaves open, if it shares a topic with the first."""
    weights = np.array([term.weight for term in clause.terms])
    total = float(weights.sum()) or 1.0
    adds = np.maximum(clause.coverage - clause.coverage[first], 0) @ weights / total
    shares = np.minimum(clause.coverage, clause.coverage[first]) @ weights / total
    fits = (
        (adds >= _MIN_ADDED_SHARE)
        & (shares >= _MIN_ADDED_SHARE)
        & (clause.similarity >= _MIN_SIMILARITY)
        & _own_words_mask(clause)
    )
    fit = np.where(fits, clause.score + adds, -1.0)
    best = int(np.argmax(fit))
    return best if fit[best] > 0 else None


def _own_words_mask(clause: ClauseScores) -> np.ndarray:
    """Mask of sentences that cover the question by their own words, not only by their context; "Thank you" does not."""
    topics = [index for index, term in enumerate(clause.terms) if not term.is_name]
    return np.asarray(clause.coverage[:, topics].max(axis=1, initial=0.0 if topics else 1.0) > CONTEXT_SHARE)


def _quote_runs(at: int, candidates: Sequence[Candidate]) -> list[list[int]]:
    """Group positions that are quoted together, as one quotation each."""
    quotable = candidates[at]
    if not quotable.speaker:
        return [_with_context(at, candidates)]
    if quotable.is_question and at in _preceding(at + 1, candidates):
        return [[at], [at + 1]]
    if quotable.preceding and _is_short(quotable) and candidates[quotable.preceding[-1]].is_question:
        return [[quotable.preceding[-1]], [at]]
    return [[at]]


def _with_context(at: int, candidates: Sequence[Candidate]) -> list[int]:
    """Add context from the same passage: the sentence before a pronoun or short remark, the text after a title."""
    run = [at]
    while len(run) <= PRECEDING_COUNT and candidates[run[0]].preceding and _needs_context(candidates[run[0]]):
        run.insert(0, candidates[run[0]].preceding[-1])
    run = run[1:] if len(run) > 1 and candidates[run[0]].is_title else run
    return [*run, at + 1] if candidates[at].is_title and at in _preceding(at + 1, candidates) else run


def _preceding(at: int, candidates: Sequence[Candidate]) -> tuple[int, ...]:
    return candidates[at].preceding if at < len(candidates) else ()


def _needs_context(quotable: Candidate) -> bool:
    return not quotable.is_title and (bool(_CONTEXT_DEPENDENT.match(quotable.text)) or _is_short(quotable))


def _is_short(quotable: Candidate) -> bool:
    return len(quotable.text.split()) <= _SHORT_WORDS


def _is_joinable(one: Sequence[int], other: Sequence[int], candidates: Sequence[Candidate]) -> bool:
    """Whether two runs overlap, or are adjacent in one source that is not a conversation."""
    near = any(abs(at - place) <= 1 for at in one for place in other)
    same = candidates[one[0]].source.number == candidates[other[0]].source.number
    return near and same


def build_quotation(run: Sequence[Candidate]) -> Quotation:
    """Join consecutive sentences of one source; those without end punctuation, as list items, get a separator."""
    last = run[-1]
    texts = (one.text + ("" if _TERMINATED.search(one.text) else ":" if one.is_title else ";") for one in run[:-1])
    return Quotation(last.source.number, " ".join([*texts, last.text]), last.speaker, last.time_text)
