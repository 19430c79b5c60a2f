"""Select sentences to quote, and render the quotations. Pure."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.candidates import PRECEDING_COUNT, is_adjacent
from engine.llm.offline.questions.analysis import asks_how, has_answer_type, wants_list
from engine.llm.offline.quoting.bridges import find_bridge
from engine.llm.offline.quoting.links import share_name
from engine.llm.offline.quoting.lists import complete_list, find_list
from engine.llm.offline.quoting.replies import find_continuation, find_explanation, find_reply, repeats_question
from engine.llm.offline.words import count_words, split_words, stem
from engine.text.cleanup import MINUTE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

MIN_SUPPORT = 0.685  # of an answer; below, nothing was found
MIN_PAIR = 0.85  # of the words of a question, in two sentences that answer together
MAX_QUOTES = 4
MAX_REASONS = 3
MAX_RANKED = 12  # the best sentences, among which questions without a reply are left out
SCORE_MARGIN = 0.35  # a further quotation is at most this much worse than the best
# What the sentence that carries the other half shares with the best one, and adds to it, of the words of the question.
_MIN_ADDED_SHARE = 0.12
_MIN_SIMILARITY = 0.27

_CITATION = re.compile(r"\[(\d[\d\s,;–-]*)\]")
_CONTEXT_DEPENDENT = re.compile(
    r"(?:and |but |so |then |also )?(?:he|she|it|its|they|his|her|their|this|that|these|those|both|neither|such|"
    r"after that|then|otherwise|the rest|the same|the other)\b",
    re.IGNORECASE,
)
_TERMINATED = re.compile(r"[.!?…:;,。！？][\"'”’»)\]]*+\Z")
_SHORT_WORDS = 6


@dataclass(frozen=True, slots=True)
class Quotation:
    """One or more consecutive sentences quoted from one source. `until`: the day on which a newer one replaced them."""

    number: int
    text: str
    speaker: str = ""
    time_text: str = ""
    until: str = ""


def select_answers(candidates: Sequence[Candidate], clauses: Sequence[ClauseScores]) -> list[int]:
    """Positions of the sentences that answer, best first by clause; none if nothing does."""
    share = max(1, MAX_QUOTES // max(1, len(clauses)))
    chosen: list[int] = []
    for clause in clauses:
        answers = _select_for_clause(clause, candidates, share)
        adjacent = _find_adjacent_answer(chosen, clause, candidates)
        bridge = find_bridge(answers[0], clause, candidates) if answers else None
        if adjacent and (clause.has_hint or not answers):
            chosen += adjacent
        elif bridge is not None and clause.answer_type != "absence":
            chosen += [answers[0], bridge, *_filter_by_answer_type(answers, clause, candidates)][:share]
        else:
            chosen += _filter_by_answer_type(answers, clause, candidates)
    return list(dict.fromkeys(chosen))[:MAX_QUOTES]


def complete_answers(
    chosen: Sequence[int], candidates: Sequence[Candidate], clauses: Sequence[ClauseScores]
) -> list[int]:
    """The chosen sentences with what belongs to them: whole lists, the reply to a question, the reason for something.

    A list that a clause asks for comes first.
    """
    whole = any(wants_list(clause.text) for clause in clauses)
    wants_steps = any(asks_how(clause.text) for clause in clauses)
    wants_reason = any(clause.answer_type == "reason" for clause in clauses)
    positions = [at for clause in clauses for at in find_list(clause, candidates)]
    for at in chosen:
        positions += complete_list(
            at, candidates, whole=whole or any(_asks_for_list(at, clause, candidates) for clause in clauses)
        )
        reply = find_reply(at, candidates) if _is_asked(at, clauses, candidates) else None
        positions += [reply] if reply is not None else []
        positions += find_explanation(at, candidates) if wants_reason and reply is None else []
        positions += find_continuation(at, candidates) if wants_steps else []
    return list(dict.fromkeys([*positions, *_list_holes(positions, candidates)] if wants_steps else positions))


def _is_asked(at: int, clauses: Sequence[ClauseScores], candidates: Sequence[Candidate]) -> bool:
    """Whether a sentence only asks what is asked, so that its reply answers."""
    one = candidates[at]
    return one.is_question or any(
        repeats_question(one, frozenset(term.stem for term in clause.terms)) for clause in clauses
    )


def _asks_for_list(at: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    """Whether an item has no word of the question, and what is above its list has all of them."""
    covered, own = clause.coverage[at], clause.own[at]
    return candidates[at].is_item and bool(len(own)) and not own.any() and bool((covered > 0).all())


def _list_holes(positions: Sequence[int], candidates: Sequence[Candidate]) -> list[int]:
    """The single sentences between two of these in one source that is no conversation."""
    chosen = set(positions)
    inside = [at + 1 for at in chosen if at + 1 not in chosen and at + 2 in chosen]
    return [
        at
        for at in sorted(inside)
        if not candidates[at].speaker
        and candidates[at - 1].source is candidates[at].source is candidates[at + 1].source
    ]


def _select_for_clause(clause: ClauseScores, candidates: Sequence[Candidate], most: int) -> list[int]:
    """The best sentence, the one that carries the other half, and those nearly as good as the best.

    A question without a reply answers nothing.
    """
    ranked = [int(at) for at in np.argsort(-clause.score, kind="stable")]
    idle = {
        at for at in ranked[:MAX_RANKED] if _is_asked(at, [clause], candidates) and find_reply(at, candidates) is None
    }
    ranked = [at for at in ranked if at not in idle]
    first = next((at for at in ranked if clause.support[at] >= MIN_SUPPORT), None)
    if first is None or first not in ranked[:MAX_QUOTES]:
        return _select_pair(ranked[:MAX_QUOTES], clause, candidates)[:most]
    floor = clause.score[first] - SCORE_MARGIN
    as_good = (clause.score >= floor) & (clause.support >= MIN_SUPPORT)
    return list(dict.fromkeys([first, *_find_other_half(clause, first), *(at for at in ranked if as_good[at])]))[:most]


def _select_pair(ranked: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[int]:
    """Two sentences of which neither answers, but both together, by a word that leads from one to the other."""
    whole = float(clause.weights.sum()) or 1.0
    for at in ranked:
        other = find_bridge(at, clause, candidates)
        if other is None or not share_name(candidates[at], candidates[other]):
            continue
        covered = float(np.maximum(clause.own[at], clause.own[other]) @ clause.weights)
        if covered >= MIN_PAIR * whole and _are_written([at, other], clause, candidates):
            return [at, other]
    return []


def _are_written(pair: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    """Whether all names of a clause are in what the sentences say, not only their speakers."""
    written = {stem(word) for at in pair for word in split_words(candidates[at].text)}
    return all(term.stem in written for term in clause.terms if term.is_name)


def _find_other_half(clause: ClauseScores, first: int) -> list[int]:
    """The sentence that covers what the first one leaves open, if it shares a topic with the first."""
    adds = np.maximum(clause.coverage - clause.coverage[first], 0) @ clause.weights
    shares = np.minimum(clause.coverage, clause.coverage[first]) @ clause.weights
    fits = (adds >= _MIN_ADDED_SHARE) & (shares >= _MIN_ADDED_SHARE) & (clause.similarity >= _MIN_SIMILARITY)
    fit = np.where(fits, clause.score + adds, -1.0)
    return [int(np.argmax(fit))] if fit.max() > 0 else []


def _filter_by_answer_type(positions: list[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[int]:
    """Sentences with the answer type; if there are none, the one next to such a sentence, and that; else all.

    A sentence without a number cannot answer a question for a number, nor one without a unit of that kind.
    """
    fits = {at: has_answer_type(candidates[at].text, clause.answer_type, clause.counted_stems) for at in positions}
    fitting = [at for at in positions if fits[at]]
    if fitting and clause.answer_type == "reason":  # what gives a reason may give that of something else
        explained = [] if fits[positions[0]] else find_explanation(positions[0], candidates)
        return [positions[0], *explained] if explained else [*fitting, *positions][:MAX_REASONS]
    if fitting:
        return fitting
    if positions and candidates[positions[0]].is_question:
        return positions
    for at in positions:
        if adjacent := _find_adjacent_answer([at], clause, candidates):
            return [at, *adjacent]
    strict = clause.answer_type == "quantity" and bool(clause.counted_stems)
    return [at for at in positions if not strict or fits[at] is None]


def _find_adjacent_answer(positions: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> list[int]:
    """The sentence next to a previous answer that has the answer type of a clause, if there is one."""
    near = [(at, place) for place in positions for at in (place + 1, place - 1, place + 2) if 0 <= at < len(candidates)]
    adjacent = (at for at, place in near if is_adjacent(candidates[at].source, candidates[place].source, chat=False))
    return [at for at in adjacent if has_answer_type(candidates[at].text, clause.answer_type, clause.counted_stems)][:1]


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


def build_quotation(run: Sequence[Candidate]) -> Quotation:
    """Join consecutive sentences of one source that hold equally long; list items without punctuation are separated."""
    last = run[-1]
    texts = (one.text + ("" if _TERMINATED.search(one.text) else ":" if one.is_title else ";") for one in run[:-1])
    return Quotation(last.source.number, " ".join([*texts, last.text]), last.speaker, last.time_text, last.until)


def render_quotations(quoted: Sequence[Quotation], zone: tzinfo = UTC) -> str:
    """One line per quotation; several form a list. `zone`: of the times of messages."""
    bullet = "- " if len(quoted) > 1 else ""
    return "\n".join(f"{bullet}{_render_quote(quotation, zone)}" for quotation in quoted)


def _render_quote(quotation: Quotation, zone: tzinfo) -> str:
    """One line: “the words” [n]; for messages after speaker and time, for what was replaced after the day of that."""
    words = _CITATION.sub(r"(\1)", quotation.text)  # a number in the source is not one of our citations
    who = f"{quotation.speaker} ({_localize(quotation.time_text, zone)}): " if quotation.speaker else ""
    until = f"Until {quotation.until}: " if quotation.until else ""
    return f"{until}{who}“{words}” [{quotation.number}]"


def _localize(time_text: str, zone: tzinfo) -> str:
    """The time of a message in a time zone; UTC is named, since it is the zone of somebody whose own is unknown."""
    if zone is not UTC:
        with suppress(ValueError, OverflowError):  # no time, or none that the zone can tell
            return f"{datetime.fromisoformat(time_text).replace(tzinfo=UTC).astimezone(zone):{MINUTE_FORMAT}}"
    return f"{time_text} UTC"


def _quote_runs(at: int, candidates: Sequence[Candidate]) -> list[list[int]]:
    """Group positions that are quoted together, as one quotation each: a short answer in a chat with its question."""
    candidate = candidates[at]
    if not candidate.speaker:
        return [_with_context(at, candidates)]
    if candidate.preceding and _is_short(candidate) and candidates[candidate.preceding[-1]].is_question:
        return [[candidate.preceding[-1]], [at]]
    return [[at]]


def _with_context(at: int, candidates: Sequence[Candidate]) -> list[int]:
    """Add context from the same passage: the sentence before a pronoun or short remark, the text after a title.

    What was replaced is no context of what still holds.
    """
    run = [at]
    while len(run) <= PRECEDING_COUNT and candidates[run[0]].preceding and _needs_context(candidates[run[0]]):
        run.insert(0, candidates[run[0]].preceding[-1])
    run = run[1:] if len(run) > 1 and candidates[run[0]].is_title else run
    run = [*run, at + 1] if candidates[at].is_title and at in _preceding(at + 1, candidates) else run
    return run if len({candidates[place].until for place in run}) == 1 else [at]


def _preceding(at: int, candidates: Sequence[Candidate]) -> tuple[int, ...]:
    return candidates[at].preceding if at < len(candidates) else ()


def _needs_context(candidate: Candidate) -> bool:
    return not candidate.is_title and (bool(_CONTEXT_DEPENDENT.match(candidate.text)) or _is_short(candidate))


def _is_short(candidate: Candidate) -> bool:
    return count_words(candidate.text) <= _SHORT_WORDS


def _is_joinable(one: Sequence[int], other: Sequence[int], candidates: Sequence[Candidate]) -> bool:
    """Whether two runs overlap, or are adjacent in one source that is not a conversation, and hold equally long."""
    near = any(abs(at - place) <= 1 for at in one for place in other)
    alike = candidates[one[0]].until == candidates[other[0]].until
    return near and alike and candidates[one[0]].source.number == candidates[other[0]].source.number
