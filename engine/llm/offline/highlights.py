"""Extract highlights: decisions, open questions, or the most informative sentences. Pure, no model."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.quotes import build_quotations, render_quotations
from engine.llm.offline.supersession.sources import find_replaced, put_newer_first
from engine.llm.offline.words import is_generic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import OverviewKind, Source

MAX_HIGHLIGHTS = 8
MAX_DECISIONS = 4  # of the highlights of a summary, the newest; a decision is not left out for a more frequent word
MAX_FILES = 12  # named in a digest
DIGEST_SECTIONS: Mapping[str, OverviewKind] = {
    "**Topics**": "summary",
    "**Decisions**": "decisions",
    "**Open questions**": "questions",
}
CHANGES_SECTION, FILES_SECTION = "**Changes**", "**New files**"
MAX_CHANGES = 6  # the newest
_MIN_WORDS, _MAX_WORDS = 5, 60  # of a sentence of a summary
_MIN_QUESTION_WORDS = 4
_ANSWER_WINDOW = 3  # number of following messages that may answer a question
_LATE_ANSWER = timedelta(hours=24)  # until which one of another conversation of the channel may
_DECISION = re.compile(
    r"\bdecision:|\b(?:decided|resolved|agreed|approved|adopted|granted|rejected|elected|settled|unanimously|"
    r"beschlossen|entschieden|vereinbart|genehmigt|abgelehnt|decidi(?:ó|do|mos)|acord(?:ó|ado|amos)|aprobad[oa]|"
    r"décidé|convenu|adopté|approuvé|decidid[oa]|combinad[oa]|aprovad[oa])\b|"
    r"\b(?:we(?:.ll| will| are going to|.re going to)|let.s|let us) (?:go with|settle on|stick (?:with|to))\b|"
    r"\b(?:wir (?:nehmen (?:also|dann|nun)|bleiben bei|einigen uns auf)|(?:also|dann) nehmen wir|"
    r"(?:wir machen|machen wir) (?:es |das )?so)\b|"
    r"\b(?:on part sur|(?:alors|donc) (?:on (?:prend|garde)|nous (?:prenons|gardons))|"
    r"(?:on (?:prend|garde)|nous (?:prenons|gardons)) (?:alors|donc))\b|"
    r"\b(?:nos quedamos con|vamos a (?:usar|tomar)|ficamos com|vamos com (?:os?|as?)|fica (?:decidido|combinado))\b|"
    r"(?:に(?:決まり|決め(?:ました|よう|ます)|決定|します|しましょう)|ことに(?:なりました|しました)|で(?:決まり|決定))",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:if|unless|until|whether|nothing|never|nobody|not|be|should|could|would|falls|wenn|ob|nicht|si|no|ne)\b"
    r"[^.;:]{0,30}\b(?:decided|resolved|agreed|settled|chosen|approved|beschlossen|entschieden|decidido|décidé)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:open question|still open|not yet (?:known|clear|decided|settled)|remains? to be|(?:is|are) to be found|"
    r"to be (?:decided|confirmed|clarified|announced)|undecided|unresolved|nobody knows|offene frage|noch offen|"
    r"por decidir|reste à)\b",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"\b(?:no idea|not sure|don.t know|do not know|good question|who knows|will ask|.ll ask|let me (?:check|ask|see)|"
    r"keine ahnung|weiß nicht|ni idea|no sé|aucune idée|sais pas)\b",
    re.IGNORECASE,
)
_DIRECT_ANSWER = re.compile(
    r"(?:yes|yep|yeah|no|nope|not|sure|ok(?:ay)?|done|right|correct|exactly|of course|please|"
    r"(?:i|we)(?:.ve| have| do| did| can|.m| am| are)|ja|nein|doch|nicht|klar|erledigt|ich (?:habe|bin)|"
    r"sí|claro|hecho|oui|non|bien sûr|sim|não|はい|いいえ)(?!\w)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
_CHAT_ADDRESS = re.compile(r"\b(?:you|your|thanks|thank|see you|danke|gracias|merci)\b", re.IGNORECASE)
_CONTEXT_DEPENDENT = re.compile(
    r"(?:he|she|it|they|this|that|these|those|and|but|so|then|not|yes|no|i see|done)\b", re.IGNORECASE
)


def find_highlights(sources: Sequence[Source], kind: OverviewKind) -> str:
    """Quotations of the requested kind, one per line; empty if there are none.

    Of decisions and open questions these are the newest, in order of time; those without a time come first.
    """
    if kind == "digest":
        return _find_digest(sources)
    candidates = build_candidates(sources)
    if kind == "summary":
        return render_quotations(build_quotations(_most_informative(candidates), candidates))
    matches = _is_decision if kind == "decisions" else _is_open_question
    positions = [at for at in range(len(candidates)) if matches(at, candidates)]
    positions.sort(key=lambda at: str(candidates[at].source.time or ""))
    return render_quotations(build_quotations(positions[-MAX_HIGHLIGHTS:], candidates))


def _find_digest(sources: Sequence[Source]) -> str:
    """The highlights of each kind, and the files among the sources, in sections; empty ones are left out.

    Topics do not repeat decisions and open questions. What was replaced is only part of the changes.
    """
    candidates = build_candidates(sources)
    replaced = {candidates[at].source.number for at in find_replaced(candidates)}
    valid = [each for each in sources if each.number not in replaced]
    said = [each for each in valid if each.author]
    sections = {heading: find_highlights(said, kind).splitlines() for heading, kind in DIGEST_SECTIONS.items()}
    topics, *others = DIGEST_SECTIONS
    repeated = {_point(line) for heading in others for line in sections[heading]}
    sections[topics] = [line for line in sections[topics] if _point(line) not in repeated]
    sections[CHANGES_SECTION] = _find_changes(candidates)
    files = {each.document: each for each in reversed(valid) if not each.author}
    sections[FILES_SECTION] = [f"{each.title} [{each.number}]" for each in [*files.values()][::-1][:MAX_FILES]]
    return _render_sections(sections)


def _find_changes(candidates: Sequence[Candidate]) -> list[str]:
    """What replaces an earlier statement, each followed by this one, the newest last."""
    newest = dict.fromkeys(find_replaced(candidates).values())
    latest = sorted(newest, key=lambda at: str(candidates[at].source.time or ""))[-MAX_CHANGES:]
    lines: list[str] = []
    for at in latest:
        marked, order = put_newer_first(candidates, [at])
        lines += render_quotations(build_quotations(order, marked)).splitlines()
    return list(dict.fromkeys(lines))


def _render_sections(sections: Mapping[str, Sequence[str]]) -> str:
    """Sections with their headings, one point per line."""
    points = {heading: [_point(line) for line in lines if line] for heading, lines in sections.items()}
    return "\n\n".join(
        "\n".join([heading, *(f"- {point}" for point in section)]) for heading, section in points.items() if section
    )


def _point(line: str) -> str:
    return line.removeprefix("- ")


def merge_digests(notes: Sequence[str]) -> str:
    """The sections of partial digests, each with the first points of all of them."""
    parts: dict[str, list[str]] = {heading: [] for heading in (*DIGEST_SECTIONS, CHANGES_SECTION, FILES_SECTION)}
    share = max(2, MAX_HIGHLIGHTS // max(1, len(notes)))
    for text in notes:
        for section in text.split("\n\n"):
            heading, *points = section.splitlines()
            if heading in parts:
                parts[heading] += points[:share]
    return _render_sections(parts)


def format_date_range(sources: Sequence[Source]) -> str:
    """The date range of the highlights, as the first line of a summary; empty if they have no times."""
    days = sorted(each.time.date() for each in sources if each.time)
    if not days:
        return ""
    first, last = days[0], days[-1]
    end = f"{last.day} {last:%B %Y}"
    if first == last:
        return f"On {end}:"
    year = f" {first:%Y}" if first.year != last.year else ""
    month = f" {first:%B}{year}" if (first.year, first.month) != (last.year, last.month) else ""
    return f"From {first.day}{month} to {end}:"


def merge_highlights(notes: Sequence[str]) -> str:
    """The first lines of each of the notes, with the same maximum in all as for a single one."""
    share = max(1, MAX_HIGHLIGHTS // max(1, len(notes)))
    quoted = ([line.removeprefix("- ") for line in text.splitlines() if line.rstrip().endswith("]")] for text in notes)
    lines = [line for each in quoted for line in each[:share]][-MAX_HIGHLIGHTS:]
    return "\n".join(f"- {line}" for line in lines) if len(lines) > 1 else "".join(lines)


def _is_decision(at: int, candidates: Sequence[Candidate]) -> bool:
    one = candidates[at]
    return not one.is_question and bool(_DECISION.search(one.text)) and not _UNDECIDED.search(one.text)


def _is_open_question(at: int, candidates: Sequence[Candidate]) -> bool:
    """Whether it is a question that no other speaker answers soon after, or states that something is open.

    The first reply answers it unless it says that it does not; later ones do if they share a word with it. So does a
    later message of the channel that begins like an answer, such as "Yes" or "I have".
    """
    one = candidates[at]
    if not one.is_question or not one.speaker:
        return not one.is_question and bool(_OPEN.search(one.text))
    following = candidates[at + 1 : at + 1 + _ANSWER_WINDOW]
    replies = [
        each
        for each in following
        if each.source.document == one.source.document and each.speaker != one.speaker and not each.is_question
    ]
    about = {word for word in one.stems if not is_generic(word)}
    answers = [*replies[:1], *(each for each in replies[1:] if about & set(each.stems))]
    answers += [each for each in _later_replies(one, candidates) if _DIRECT_ANSWER.match(each.text)]
    return len(one.text.split()) >= _MIN_QUESTION_WORDS and not any(_answers(each.text) for each in answers)


def _answers(reply: str) -> bool:
    """Whether a reply does not say that its author does not know."""
    if _NO_ANSWER.match(reply):
        return False
    return bool(_DIRECT_ANSWER.match(reply)) or not _NO_ANSWER.search(reply)


def _later_replies(one: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """What other speakers said next in other conversations of the channel."""
    asked = one.source.time
    if asked is None or not one.source.room:
        return []
    later = [
        (each.source.time, at)
        for at, each in enumerate(candidates)
        if each.source.room == one.source.room and each.source.document != one.source.document
        if each.source.time is not None and asked < each.source.time <= asked + _LATE_ANSWER
    ]
    found = [candidates[at] for _, at in sorted(later)[:_ANSWER_WINDOW]]
    return [each for each in found if each.speaker not in {"", one.speaker} and not each.is_question]


def _most_informative(candidates: Sequence[Candidate]) -> list[int]:
    """The newest decisions, and the sentences with the most frequent words not yet covered (SumBasic); in order."""
    about = [frozenset(word for word in one.stems if not is_generic(word)) for one in candidates]
    counts = Counter(word for words in about for word in words)
    weights = [_importance(at, candidates) / (len(words) + _MIN_WORDS) for at, words in enumerate(about)]
    remaining = [at for at, one in enumerate(candidates) if _can_stand_alone(one) and about[at]]
    decisions = [at for at, one in enumerate(candidates) if _is_decision(at, candidates) and _has_length(one)]
    chosen = sorted(decisions, key=lambda at: str(candidates[at].source.time or ""))[-MAX_DECISIONS:]
    for word in frozenset[str]().union(*(about[at] for at in chosen)):
        counts[word] = 0
    remaining = [at for at in remaining if at not in chosen]
    while remaining and len(chosen) < MAX_HIGHLIGHTS:
        best = max(remaining, key=lambda at: (weights[at] * sum(counts[word] for word in about[at]), -at))
        chosen.append(best)
        for word in about[best]:
            counts[word] = 0
        remaining = [at for at in remaining if at != best and any(counts[word] for word in about[at])]
    return sorted(chosen)


def _importance(at: int, candidates: Sequence[Candidate]) -> float:
    """Weight of a sentence: decisions count double; figures a little more, remarks to a single person less."""
    text = candidates[at].text
    figure, remark = bool(_FIGURE.search(text)), bool(_CHAT_ADDRESS.search(text))
    return (2 if _is_decision(at, candidates) else 1) * (1.25 if figure else 1) * (0.6 if remark else 1)


def _can_stand_alone(one: Candidate) -> bool:
    return _has_length(one) and not one.is_question and not _CONTEXT_DEPENDENT.match(one.text)


def _has_length(one: Candidate) -> bool:
    return _MIN_WORDS <= len(one.text.split()) <= _MAX_WORDS
