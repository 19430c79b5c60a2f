"""Extract highlights: decisions, open questions, or the most informative sentences. Pure, no model."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.quotes import build_quotation, build_quotations, render_quotations
from engine.llm.offline.text.words import is_generic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import OverviewKind, Source

MAX_HIGHLIGHTS = 8
_MIN_WORDS, _MAX_WORDS = 5, 60  # minimum words of a sentence that can represent others
_ANSWER_WINDOW = 3  # number of following messages that may answer a question
_DECISION = re.compile(
    r"\bdecision:|\b(?:decided|resolved|agreed|approved|adopted|granted|rejected|elected|settled|unanimously|"
    r"beschlossen|entschieden|vereinbart|genehmigt|abgelehnt|decidi(?:ó|do|mos)|acord(?:ó|ado|amos)|aprobad[oa]|"
    r"décidé|convenu|adopté|approuvé)\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:if|unless|until|whether|nothing|never|nobody|not|be|should|could|would|falls|wenn|ob|nicht|si|no|ne)\b"
    r"[^.;:]{0,30}\b(?:decided|resolved|agreed|settled|chosen|approved|beschlossen|entschieden|decidido|décidé)\b",
    re.IGNORECASE,
)
_OPEN_QUESTION = re.compile(
    r"\b(?:open question|still open|not yet (?:known|clear|decided|settled)|remains? to be|(?:is|are) to be found|"
    r"to be (?:decided|confirmed|clarified|announced)|undecided|unresolved|nobody knows|offene frage|noch offen|"
    r"por decidir|reste à)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
_CHAT_ADDRESS = re.compile(r"\b(?:you|your|thanks|thank|see you|danke|gracias|merci)\b", re.IGNORECASE)
_CONTEXT_DEPENDENT = re.compile(
    r"(?:he|she|it|they|this|that|these|those|and|but|so|then|not|yes|no|i see|done)\b", re.IGNORECASE
)
_NO_ANSWER = re.compile(
    r"\b(?:no idea|not sure|don.t know|do not know|good question|who knows|will ask|.ll ask|let me (?:check|ask|see)|"
    r"keine ahnung|weiß nicht|ni idea|no sé|aucune idée|sais pas)\b",
    re.IGNORECASE,
)


def find_highlights(sources: Sequence[Source], kind: OverviewKind) -> str:
    """Quotations of the requested kind, one per line; empty if there are none."""
    candidates = build_candidates(sources)
    if kind == "summary":
        return render_quotations(build_quotations(_most_informative(candidates), candidates))
    if kind == "decisions":
        positions = _select_newest(
            [at for at, candidate in enumerate(candidates) if _is_decision(candidate)], candidates
        )
        return render_quotations(build_quotations(positions, candidates))
    positions = _select_newest([at for at in range(len(candidates)) if _is_open_question(at, candidates)], candidates)
    return render_quotations([build_quotation([candidates[at]]) for at in positions])


def format_date_range(sources: Sequence[Source]) -> str:
    """The date range of the highlights, as the first line of a summary; empty if they have no times."""
    days = sorted(each.time.date() for each in sources if each.time)
    if not days:
        return ""
    first, last = days[0], days[-1]
    end = f"{last.day} {last:%B %Y}"
    if first == last:
        return f"On {end}:"
    if first.year != last.year:
        return f"From {first.day} {first:%B %Y} to {end}:"
    return f"From {first.day} to {end}:" if first.month == last.month else f"From {first.day} {first:%B} to {end}:"


def _select_newest(places: Sequence[int], candidates: Sequence[Candidate]) -> list[int]:
    """The newest ones, in order of time; those without a time come first."""
    return sorted(places, key=lambda at: (candidates[at].time is not None, str(candidates[at].time), at))[
        -MAX_HIGHLIGHTS:
    ]


def merge_highlights(notes: Sequence[str]) -> str:
    """The first lines of each of the notes, with the same maximum in all as for a single one."""
    share = max(1, MAX_HIGHLIGHTS // max(1, len(notes)))
    lines = [line for text in notes for line in _quote_lines(text)[:share]]
    return "\n".join(f"- {line}" for line in lines[-MAX_HIGHLIGHTS:]) if len(lines) > 1 else "".join(lines)


def _quote_lines(text: str) -> list[str]:
    return [line.removeprefix("- ") for line in text.splitlines() if line.rstrip().endswith("]")]


def _is_decision(candidate: Candidate) -> bool:
    return (
        not candidate.is_question and bool(_DECISION.search(candidate.text)) and not _UNDECIDED.search(candidate.text)
    )


def _is_open_question(at: int, candidates: Sequence[Candidate]) -> bool:
    """Whether it is a question that no other speaker answers soon after, or states that something is open."""
    candidate = candidates[at]
    if not candidate.is_question or not candidate.speaker:
        return not candidate.is_question and bool(_OPEN_QUESTION.search(candidate.text))
    if len(candidate.text.split()) < _MIN_WORDS - 1:
        return False
    following = [
        each
        for each in candidates[at + 1 : at + 1 + _ANSWER_WINDOW]
        if each.source.document == candidate.source.document
    ]
    return all(
        each.speaker == candidate.speaker or each.is_question or _NO_ANSWER.search(each.text) for each in following
    )


def _most_informative(candidates: Sequence[Candidate]) -> list[int]:
    """The sentences with the most frequent words, discounting words already covered (SumBasic); in order."""
    about = [frozenset(word for word in candidate.stems if not is_generic(word)) for candidate in candidates]
    share = Counter(word for words in about for word in words)
    left = [at for at, candidate in enumerate(candidates) if _can_stand_alone(candidate) and about[at]]
    chosen: list[int] = []
    while left and len(chosen) < MAX_HIGHLIGHTS:
        best = max(left, key=lambda at: (_sentence_weight(about[at], share) * _importance(candidates[at]), -at))
        chosen.append(best)
        for word in about[best]:
            share[word] = 0
        left = [at for at in left if at != best and any(share[word] for word in about[at])]
    return sorted(chosen)


def _sentence_weight(words: Iterable[str], share: Counter[str]) -> float:
    counts = [share[word] for word in words]
    return sum(counts) / (len(counts) + _MIN_WORDS)


def _importance(candidate: Candidate) -> float:
    """Weight of a sentence: decisions count double; figures a little more, remarks to a single person less."""
    return (
        (2 if _is_decision(candidate) else 1)
        * (1.25 if _FIGURE.search(candidate.text) else 1)
        * (0.6 if _CHAT_ADDRESS.search(candidate.text) else 1)
    )


def _can_stand_alone(candidate: Candidate) -> bool:
    return (
        not candidate.is_question
        and _MIN_WORDS <= len(candidate.text.split()) <= _MAX_WORDS
        and not _CONTEXT_DEPENDENT.match(candidate.text)
    )
