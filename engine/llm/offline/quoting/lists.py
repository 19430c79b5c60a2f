"""Find and complete lists, so that whole ones are quoted. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.offline.questions.analysis import is_list_noun, wants_list
from engine.llm.offline.words import word_family

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

MAX_LIST_LENGTH = 2000  # characters of a list that is quoted
MIN_ITEMS = 2
MIN_TOPIC_SHARE = 0.6  # of the words of a question that the headings of a list have
SIMILARITY_SHARE = 0.3  # of the similarity of its first line in the choice between two lists


def find_list(clause: ClauseScores, candidates: Sequence[Candidate]) -> list[int]:
    """The positions of the list that a clause asks for, what introduces it first; none if it asks for no list."""
    if not wants_list(clause.text):
        return []
    best: tuple[float, list[int]] = (0.0, [])
    for run in _list_runs(candidates):
        share = _topic_share(run, clause, candidates)
        value = share + SIMILARITY_SHARE * max(clause.similarity[at] for at in run)
        if share >= MIN_TOPIC_SHARE and value > best[0]:
            best = (value, run)
    return _limit(best[1], candidates)


def complete_list(at: int, candidates: Sequence[Candidate], *, whole: bool) -> list[int]:
    """A sentence with the list that it introduces and, if the whole is wanted, with the list that it is part of."""
    following = at + 1
    if candidates[at].is_item:
        return _limit(_with_introduction(_run_around(at, candidates), candidates), candidates) if whole else [at]
    introduces = candidates[at].text.endswith(":") or (whole and candidates[at].is_title)
    if introduces and following < len(candidates) and _continues(at, following, candidates):
        return _limit([at, *_run_around(following, candidates)], candidates)
    return [at]


def _continues(at: int, following: int, candidates: Sequence[Candidate]) -> bool:
    return candidates[following].is_item and candidates[following].source is candidates[at].source


def _list_runs(candidates: Sequence[Candidate]) -> Iterable[list[int]]:
    """Each list of several items with what introduces it."""
    at = 0
    while at < len(candidates):
        if not candidates[at].is_item:
            at += 1
            continue
        run = _run_around(at, candidates)
        at = run[-1] + 1
        if len(run) >= MIN_ITEMS:
            yield _with_introduction(run, candidates)


def _run_around(at: int, candidates: Sequence[Candidate]) -> list[int]:
    first, last, source = at, at, candidates[at].source
    while first and candidates[first - 1].is_item and candidates[first - 1].source is source:
        first -= 1
    while last + 1 < len(candidates) and candidates[last + 1].is_item and candidates[last + 1].source is source:
        last += 1
    return list(range(first, last + 1))


def _with_introduction(run: list[int], candidates: Sequence[Candidate]) -> list[int]:
    """The list after the line before it in the same source, if that introduces it."""
    before = run[0] - 1
    if before < 0 or candidates[before].source is not candidates[run[0]].source:
        return run
    introduces = candidates[before].is_title or candidates[before].text.endswith(":")
    return [before, *run] if introduces else run


def _topic_share(run: Sequence[int], clause: ClauseScores, candidates: Sequence[Candidate]) -> float:
    """The share of the question's words in the headings of a list, or in each of its items; 0 without all its names."""
    items = [candidates[at] for at in run if candidates[at].is_item]
    first = next(at for at in run if candidates[at].is_item)
    shared = frozenset.intersection(*(item.stems for item in items))
    topic = candidates[run[0]].stems | candidates[first].nearby_stems if run[0] != first else items[0].nearby_stems
    families = set(map(word_family, topic | shared))
    covered = total = 0.0
    for term, weight in zip(clause.terms, clause.weights, strict=True):
        if is_list_noun(term.word):
            continue
        others = clause.alike.get(term.stem, frozenset()) | clause.other_words.get(term.stem, frozenset())
        has_word = not families.isdisjoint(map(word_family, (term.stem, *others)))
        if term.is_name and not has_word:
            return 0.0
        total += weight
        covered += weight * has_word
    return covered / total if total else 0.0


def _limit(run: Sequence[int], candidates: Sequence[Candidate]) -> list[int]:
    """The first lines that are short enough together; at least one."""
    kept, length = list[int](), 0
    for at in run:
        length += len(candidates[at].text)
        if kept and length > MAX_LIST_LENGTH:
            break
        kept.append(at)
    return kept
