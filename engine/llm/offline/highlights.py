"""Extract highlights: decisions, open questions, or the most informative sentences. Pure, no model."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC
from typing import TYPE_CHECKING

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.points.decisions import is_decision
from engine.llm.offline.points.open_questions import asks, is_open_question
from engine.llm.offline.points.tasks import is_task, list_people
from engine.llm.offline.points.topics import find_topics
from engine.llm.offline.quotes import build_quotation, build_quotations, render_quotations
from engine.llm.offline.supersession.sources import find_replaced, put_newer_first, says_one_thing, split_former
from engine.llm.offline.words import count_words, is_generic

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import tzinfo

    from engine.llm.offline.candidates import Candidate
    from engine.models import OverviewKind, Source

MAX_HIGHLIGHTS = 8
MAX_DECISIONS = 4  # of the highlights of a summary, the newest; a decision is not left out for a more frequent word
MAX_FILES = 12  # named in a digest
TOPICS_SECTION = "**Topics**"
DECISIONS_SECTION = "**Decisions**"
QUESTIONS_SECTION = "**Open questions**"
TASKS_SECTION = "**Who does what**"
CHANGES_SECTION = "**Changes**"
FILES_SECTION = "**New files**"
SECTIONS = (
    TOPICS_SECTION,
    DECISIONS_SECTION,
    QUESTIONS_SECTION,
    TASKS_SECTION,
    CHANGES_SECTION,
    FILES_SECTION,
)
MAX_CHANGES = 6  # the newest
_MIN_WORDS, _MAX_WORDS = 5, 60  # of a sentence of a summary
_FIGURE = re.compile(r"\d")
_CHAT_ADDRESS = re.compile(r"\b(?:you|your|thanks|thank|see you|danke|gracias|merci)\b", re.IGNORECASE)
_CONTEXT_DEPENDENT = re.compile(
    r"(?:he|she|it|they|this|that|these|those|and|but|so|then|not|yes|no|i see|done)\b", re.IGNORECASE
)


def find_highlights(sources: Sequence[Source], kind: OverviewKind, zone: tzinfo = UTC) -> str:
    """Quotations of the requested kind, one per line; empty if there are none.

    Of decisions and open questions these are the newest, in order of time; those without a time come first.
    `zone`: of the times, and of the days until which something held.
    """
    if kind == "digest":
        return _find_digest(sources, zone)
    candidates = build_candidates(sources)
    if kind == "summary":
        return render_quotations(build_quotations(_most_informative(candidates), candidates), zone)
    return render_quotations(build_quotations(_list_newest(kind, candidates), candidates), zone)


def _list_newest(kind: str, candidates: Sequence[Candidate], left_out: Collection[int] = ()) -> list[int]:
    """The positions of the newest decisions, open questions or tasks, by time, without those that are left out."""
    people = list_people(candidates) if kind == "tasks" else frozenset[str]()
    matches: Mapping[str, Callable[[int], bool]] = {
        "decisions": lambda at: is_decision(candidates[at]),
        "questions": lambda at: is_open_question(at, candidates),
        "tasks": lambda at: is_task(candidates[at], people) and not is_decision(candidates[at]),
    }
    positions = [at for at in range(len(candidates)) if at not in left_out and matches[kind](at)]
    positions.sort(key=lambda at: str(candidates[at].source.time or ""))
    return positions[-MAX_HIGHLIGHTS:]


def _find_digest(sources: Sequence[Source], zone: tzinfo) -> str:
    """Topics, decisions, open questions, tasks, and the files among the sources, in sections without empty ones.

    No message is quoted below two headings, and topics quote at most one message of a conversation. What was replaced,
    and what was said before the time span, is only part of the changes.
    """
    everything = build_candidates(sources)
    replaced = find_replaced(everything, newest=True)
    news, _ = split_former(sources)
    candidates = build_candidates([item for item in news if item.author])
    files = {item.document: item for item in reversed(news) if not item.author}
    gone = {(everything[at].source.number, everything[at].text) for at in replaced if says_one_thing(everything[at])}
    left_out = {at for at, one in enumerate(candidates) if (one.source.number, one.text) in gone}
    points = {
        DECISIONS_SECTION: _list_newest("decisions", candidates, left_out),
        QUESTIONS_SECTION: _list_newest("questions", candidates, left_out),
        TASKS_SECTION: _list_newest("tasks", candidates, left_out),
    }
    quoted = {at for positions in points.values() for at in positions}
    sections = {TOPICS_SECTION: _name_topics(candidates, quoted | left_out, zone)}
    for heading, positions in points.items():
        sections[heading] = render_quotations(build_quotations(positions, candidates), zone).splitlines()
    sections[CHANGES_SECTION] = _find_changes(everything, replaced, zone)
    sections[FILES_SECTION] = [f"{file.title} [{file.number}]" for file in [*files.values()][::-1][:MAX_FILES]]
    return _render_sections(sections)


def _find_changes(candidates: Sequence[Candidate], replaced: Mapping[int, int], zone: tzinfo) -> list[str]:
    """What replaces an earlier statement, each followed by this one, the newest last."""
    newest = dict.fromkeys(replaced.values())
    latest = sorted(newest, key=lambda at: str(candidates[at].source.time or ""))[-MAX_CHANGES:]
    lines: list[str] = []
    for at in latest:
        marked, order = put_newer_first(candidates, [at], replaced, zone)
        lines += render_quotations(build_quotations(order, marked), zone).splitlines()
    return list(dict.fromkeys(lines))


def _name_topics(candidates: Sequence[Candidate], quoted: Collection[int], zone: tzinfo) -> list[str]:
    """A line for each topic: its words, and the message of it that says most and is not quoted elsewhere."""
    lines = list[str]()
    for topic in find_topics(candidates):
        own = [candidates[at] for at in topic.positions if at not in quoted and not asks(candidates[at].text)]
        best = max(own, key=lambda one: (_can_stand_alone(one), len(one.stems)), default=None)
        if best is not None:
            line = render_quotations([build_quotation([best])], zone)
            lines.append(f"{', '.join(topic.words)} – {_point(line)}")
    return lines


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
    parts: dict[str, list[str]] = {heading: [] for heading in SECTIONS}
    share = max(2, MAX_HIGHLIGHTS // max(1, len(notes)))
    for text in notes:
        for section in text.split("\n\n"):
            heading, *points = section.splitlines()
            if heading in parts:
                parts[heading] += points[:share]
    return _render_sections(parts)


def format_date_range(sources: Sequence[Source], zone: tzinfo = UTC) -> str:
    """The date range of the highlights in a time zone, as the first line of a summary; empty if they have no times."""
    days = sorted(source.time.astimezone(zone).date() for source in sources if source.time)
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
    lines = [line for lines_of_one in quoted for line in lines_of_one[:share]][-MAX_HIGHLIGHTS:]
    return "\n".join(f"- {line}" for line in lines) if len(lines) > 1 else "".join(lines)


def _most_informative(candidates: Sequence[Candidate]) -> list[int]:
    """The newest decisions, and the sentences with the most frequent words not yet covered (SumBasic); in order."""
    about = [frozenset(word for word in one.stems if not is_generic(word)) for one in candidates]
    counts = Counter(word for words in about for word in words)
    weights = [_importance(at, candidates) / (len(words) + _MIN_WORDS) for at, words in enumerate(about)]
    remaining = [at for at, one in enumerate(candidates) if _can_stand_alone(one) and about[at]]
    decisions = [at for at, one in enumerate(candidates) if is_decision(candidates[at]) and _has_length(one)]
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
    return (2 if is_decision(candidates[at]) else 1) * (1.25 if figure else 1) * (0.6 if remark else 1)


def _can_stand_alone(one: Candidate) -> bool:
    return _has_length(one) and not one.is_question and not _CONTEXT_DEPENDENT.match(one.text)


def _has_length(one: Candidate) -> bool:
    return _MIN_WORDS <= count_words(one.text) <= _MAX_WORDS
