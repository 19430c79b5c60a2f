"""Find what is replaced among the sentences of sources, and among the sources themselves. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.sentences import split_sentences
from engine.llm.offline.supersession.clauses import Statement, parse_text
from engine.llm.offline.supersession.relation import find_replacements, may_replace, says_change
from engine.models import Replacement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, tzinfo

    from engine.llm.offline.candidates import Candidate
    from engine.models import Source

MAX_STATEMENTS = 160  # sentences that are compared
MAX_QUOTES = 4
MIN_AGE_OF_FORMER = timedelta(hours=12)  # by which a statement is later than one that says much the same
MIN_ALIKE = 0.5  # of the words of the shorter one


def put_newer_first(
    candidates: Sequence[Candidate],
    chosen: Sequence[int],
    replaced: Mapping[int, int] | None = None,
    zone: tzinfo = UTC,
) -> tuple[list[Candidate], list[int]]:
    """The candidates, of which those that hold no longer know until when, and the chosen ones with what replaces them.

    A chosen sentence that was replaced follows the one that replaces it; one that replaces another is followed by it.
    `replaced`: the result of `find_replaced`, if it is known. `zone`: of the days.
    """
    if replaced is None:
        replaced = find_replaced(candidates) if chosen else {}
    groups: dict[int, list[int]] = {}
    for old in sorted(replaced, key=lambda at: _sort_key(at, candidates)):
        groups.setdefault(_find_newest(old, replaced), []).append(old)
    marked = list(candidates)
    for newest, former in groups.items():
        for rank, old in enumerate(former, 1):
            if says_one_thing(candidates[old]):
                time = candidates[_find_first_newer(old, [*former[rank:], newest], candidates)].source.time
                marked[old] = replace(candidates[old], until=f"{time.astimezone(zone):%Y-%m-%d}" if time else "")
    newest_ones = [_find_newest(at, replaced) for at in chosen]
    order = dict.fromkeys(at for newest in newest_ones for at in (newest, *groups.get(newest, [])[::-1]))
    wanted = {*chosen, *newest_ones}
    order = dict.fromkeys(_put_newest_of_alike_first(list(order), candidates))
    further = [at for at in order if at not in wanted][: max(0, MAX_QUOTES - len(wanted))]
    return marked, [at for at in order if at in wanted or at in further]


def _put_newest_of_alike_first(order: Sequence[int], candidates: Sequence[Candidate]) -> list[int]:
    """The positions, of which one that says much the same as an earlier one, but on a later day, comes before that."""
    found: list[int] = []
    for at in order:
        place = next((place for place, other in enumerate(found) if _is_later_alike(at, other, candidates)), len(found))
        found.insert(place, at)
    return found


def _is_later_alike(new: int, old: int, candidates: Sequence[Candidate]) -> bool:
    one, other = candidates[new], candidates[old]
    if one.is_item or other.is_item or one.source.time is None or other.source.time is None:
        return False
    if one.source.time - other.source.time < MIN_AGE_OF_FORMER or one.source.document == other.source.document:
        return False
    parsed = parse_text(one.text), parse_text(other.text)
    least = min(len(clause.stems) for clause in parsed)
    is_said = not any(clause.is_question or clause.is_tentative for clause in parsed)
    return is_said and least > 0 and len(parsed[0].stems & parsed[1].stems) / least >= MIN_ALIKE


def says_one_thing(one: Candidate) -> bool:
    """Whether a statement has a single sentence, so that nothing else in it still holds if it is replaced."""
    return len(split_sentences(one.text)) == 1


def find_replaced(candidates: Sequence[Candidate], *, newest: bool = False) -> dict[int, int]:
    """The positions of sentences that hold no longer, each with that of the one that replaces it.

    Compares the first MAX_STATEMENTS, those of the best sources; `newest`: the last ones, of sources by time.
    """
    first = max(0, len(candidates) - MAX_STATEMENTS) if newest else 0
    part = candidates[first : first + MAX_STATEMENTS]
    if len({one.source.time for one in part} - {None}) < 2:
        return {}
    before = _find_previous(part)
    found = find_replacements([_to_statement(one, before[at]) for at, one in enumerate(part)])
    return {first + old: first + new for old, new in found.items()}


def find_replaced_sources(sources: Sequence[Source], *, newest: bool = False) -> tuple[Replacement, ...]:
    """Which of the sources replaces what another one says, by the order of the replaced ones.

    Sources without a time replace nothing and are never replaced.
    """
    dated = [source for source in sources if source.time is not None]
    if len({source.time for source in dated}) < 2:
        return ()
    candidates = build_candidates(dated)
    found = [
        Replacement(
            candidates[new].source.number, candidates[old].source.number, candidates[old].text, candidates[new].text
        )
        for old, new in find_replaced(candidates, newest=newest).items()
    ]
    return tuple(sorted(found, key=lambda each: (each.older, each.newer)))


def can_replace_others(source: Source) -> bool:
    """Whether a source says anything that can replace what another one says."""
    return any(may_replace(_to_statement(one, -1)) for one in build_candidates([source]))


def split_former(sources: Sequence[Source]) -> tuple[Sequence[Source], Sequence[Source]]:
    """Sources by time, and those at their end that are older than all of these: what they replace, and no news."""
    oldest, first = list[str](), ""
    for source in sources:
        first = min(first or str(source.time), str(source.time)) if source.time else first
        oldest.append(first)
    at, latest = len(sources), ""
    for place in range(len(sources) - 1, 0, -1):
        latest = max(latest, str(sources[place].time or "~"))
        if latest < oldest[place - 1]:
            at = place
    return sources[:at], sources[at:]


def list_changes(sources: Sequence[Source]) -> list[str]:
    """The statements that say that something changed, the newest last."""
    candidates = [one for one in build_candidates(sources)[-MAX_STATEMENTS:] if one.source.time is not None]
    found = [one for one in candidates if says_change(parse_text(one.text))]
    return [one.text for one in sorted(found, key=lambda one: str(one.source.time))]


def _find_newest(at: int, replaced: Mapping[int, int]) -> int:
    while at in replaced:
        at = replaced[at]
    return at


def _find_first_newer(old: int, later: Sequence[int], candidates: Sequence[Candidate]) -> int:
    """The first of these later sentences that replaces a former one, not one that repeats it; else the last."""
    return next((new for new in later[:-1] if find_replaced([candidates[old], candidates[new]])), later[-1])


def _sort_key(at: int, candidates: Sequence[Candidate]) -> tuple[str, int]:
    return str(candidates[at].source.time or ""), at


def _to_statement(one: Candidate, previous: int) -> Statement:
    heading = "" if one.speaker else f"{one.source.title} {one.source.label}"
    return Statement(one.text, one.source.time, one.speaker, one.source.room, one.source.document, previous, heading)


def _find_previous(candidates: Sequence[Candidate]) -> list[int]:
    """For each message the latest one before it in its conversation, as far as it is known; -1 without one."""
    said: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for at, one in enumerate(candidates):
        if one.source.time is not None:
            said[one.source.document].append((one.source.time, at))
    for times in said.values():
        times.sort()
    previous = []
    for one in candidates:
        time, times = one.source.time, said[one.source.document]
        earlier = bisect_left(times, (time, -1)) if one.speaker and time is not None else 0
        previous.append(times[earlier - 1][1] if earlier else -1)
    return previous
