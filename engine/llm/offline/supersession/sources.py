"""Find what is replaced among the sentences of sources, and among the sources themselves. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.supersession.clauses import Statement, parse_text
from engine.llm.offline.supersession.relation import find_replacements, says_change
from engine.models import Replacement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.models import Source

MAX_STATEMENTS = 160  # sentences that are compared, those of the best sources
MAX_QUOTES = 4


def put_newer_first(candidates: Sequence[Candidate], chosen: Sequence[int]) -> tuple[list[Candidate], list[int]]:
    """The candidates, of which those that hold no longer know until when, and the chosen ones with what replaces them.

    A chosen sentence that was replaced follows the one that replaces it; one that replaces another is followed by it.
    """
    replaced = find_replaced(candidates) if chosen else {}
    groups: dict[int, list[int]] = {}
    for old in sorted(replaced, key=lambda at: _sort_key(at, candidates)):
        groups.setdefault(_find_newest(old, replaced), []).append(old)
    marked, order = list(candidates), list[int]()
    for newest, former in groups.items():
        for old, newer in pairwise([*former, newest]):
            marked[old] = replace(candidates[old], until=f"{candidates[newer].source.time:%Y-%m-%d}")
    for at in chosen:
        newest = _find_newest(at, replaced)
        order += [newest, *groups.get(newest, [])[::-1]]
    return marked, list(dict.fromkeys(order))[: max(MAX_QUOTES, len(chosen))]


def find_replaced(candidates: Sequence[Candidate]) -> dict[int, int]:
    """The positions of sentences that hold no longer, each with that of the one that replaces it."""
    return find_replacements([_to_statement(at, candidates) for at in range(min(len(candidates), MAX_STATEMENTS))])


def find_replaced_sources(sources: Sequence[Source]) -> tuple[Replacement, ...]:
    """Which of the sources replaces what another one says, by the order of the replaced ones."""
    candidates = build_candidates(sources)
    found = [
        Replacement(
            candidates[new].source.number, candidates[old].source.number, candidates[old].text, candidates[new].text
        )
        for old, new in find_replaced(candidates).items()
    ]
    return tuple(sorted(found, key=lambda each: (each.older, each.newer)))


def list_changes(sources: Sequence[Source]) -> list[str]:
    """The statements that say that something changed, the newest last."""
    candidates = [one for one in build_candidates(sources)[-MAX_STATEMENTS:] if one.source.time is not None]
    found = [one for one in candidates if says_change(parse_text(one.text))]
    return [one.text for one in sorted(found, key=lambda one: str(one.source.time))]


def _find_newest(at: int, replaced: dict[int, int]) -> int:
    while at in replaced:
        at = replaced[at]
    return at


def _sort_key(at: int, candidates: Sequence[Candidate]) -> tuple[str, int]:
    return str(candidates[at].source.time or ""), at


def _to_statement(at: int, candidates: Sequence[Candidate]) -> Statement:
    one = candidates[at]
    heading = "" if one.speaker else f"{one.source.title} {one.source.label}"
    return Statement(
        one.text,
        one.source.time,
        one.speaker,
        one.source.room,
        one.source.document,
        _find_previous(at, candidates),
        heading,
    )


def _find_previous(at: int, candidates: Sequence[Candidate]) -> int:
    """The message before a message in its conversation, as far as it is known; -1 without one."""
    one = candidates[at]
    if not one.speaker or one.source.time is None:
        return -1
    before = [
        (str(other.source.time), place)
        for place, other in enumerate(candidates)
        if other.source.document == one.source.document and other.source.time and other.source.time < one.source.time
    ]
    return max(before, default=("", -1))[1]
