"""Two sentences that only together answer: the first says who is meant, the second what is asked about them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.candidates import stemmed
from engine.llm.offline.entities import Known, names
from engine.llm.offline.text.words import stem, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.llm.offline.candidates import Quotable
    from engine.llm.offline.scoring import Weighed

FIRSTS = 4
# What each of the two must say of the question that the other does not.
_OWN_SHARE = 0.2
_PAIRED = 0.9

_SELF = re.compile(r"\b(?:I|my|me|mine)\b")


def bridge(clause: Weighed, quotables: Sequence[Quotable]) -> tuple[int, int, float] | None:
    """The best two, linked by a name that the question does not say, and their support together."""
    weights = np.array([term.weight for term in clause.terms])
    total = float(weights.sum())
    if not total:
        return None
    found = [(*pair, _support(clause, pair, weights / total)) for pair in _pairs(clause, quotables, weights / total)]
    return max(found, key=lambda each: each[2], default=None)


def _pairs(clause: Weighed, quotables: Sequence[Quotable], shares: np.ndarray) -> Iterator[tuple[int, int]]:
    """Sentences of which each says something else of the question, and that share a new name."""
    asked = {term.stem for term in clause.terms}
    firsts = np.argsort(-(clause.covers @ shares + clause.similar), kind="stable")[:FIRSTS]
    for first in map(int, firsts):
        keys = [key for key in _new_names(quotables[first]) if asked.isdisjoint(key)]
        more = np.maximum(clause.covers - clause.covers[first], 0) @ shares
        less = np.maximum(clause.covers[first] - clause.covers, 0) @ shares
        for second in map(int, np.flatnonzero((more >= _OWN_SHARE) & (less >= _OWN_SHARE))):
            if any(key <= stemmed(_told(quotables[second])) for key in keys):
                yield first, second


def _new_names(quotable: Quotable) -> list[frozenset[str]]:
    """The stems of each name that it tells something of."""
    return [frozenset(map(stem, tokens(name.name))) for name in names(_told(quotable), Known())]


def _told(quotable: Quotable) -> str:
    """What it says, with its speaker only if they speak of themselves."""
    return quotable.shown if _SELF.search(quotable.text) else quotable.text


def _support(clause: Weighed, pair: tuple[int, int], shares: np.ndarray) -> float:
    """As for one sentence, of what the two cover together."""
    first, second = pair
    covers = np.maximum(clause.covers[first], _PAIRED * clause.covers[second])
    rest = np.array([not term.name for term in clause.terms])
    whole = float(covers @ shares)
    asked_for = float(covers[rest] @ shares[rest] / shares[rest].sum()) if rest.any() else whole
    lost = float(clause.lost[second]) * float((1 - covers).max())
    return 0.5 * (whole + asked_for + float(clause.similar[[first, second]].mean())) - lost
