"""BM25 over arrays of postings, with the same numbers as over the term index of a database."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.storage.ledger.full_text.bm25 import K1, STEM_SHARE, B

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.storage.ledger.full_text.index import ScopeSize


class PostingArrays(NamedTuple):
    """The rows that contain a term, as columns."""

    ids: np.ndarray
    lengths: np.ndarray
    times: np.ndarray


def join_arrays(exact: PostingArrays, others: Sequence[PostingArrays]) -> PostingArrays:
    """The rows that contain a word or another form of it, which counts less; as `score_words` joins them."""
    if not others:
        return exact
    every = (exact, *others)
    ids, first = np.unique(np.concatenate([held.ids for held in every]), return_index=True)
    own = np.zeros(len(ids))
    own[np.searchsorted(ids, exact.ids)] = exact.times
    times = own.copy()
    for held in others:
        at = np.searchsorted(ids, held.ids)
        times[at] = np.maximum(times[at], own[at] + STEM_SHARE * np.maximum(0, held.times - own[at]))
    return PostingArrays(ids, np.concatenate([held.lengths for held in every])[first], times)


def score_arrays(postings: Iterable[PostingArrays], whole: ScopeSize) -> tuple[np.ndarray, np.ndarray]:
    """Ids and their BM25 scores, as `score_rows` computes them."""
    average = whole.length / whole.rows if whole.rows and whole.length else 1.0
    fixed, by_length = K1 * (1 - B), K1 * B / average
    ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
    for held in postings:
        rarity = math.log1p((whole.rows - len(held.ids) + 0.5) / (len(held.ids) + 0.5)) * (K1 + 1)
        ids.append(held.ids)
        scores.append(rarity * held.times / (held.times + fixed + by_length * held.lengths))
    distinct, places = np.unique(np.concatenate(ids), return_inverse=True)
    return distinct, np.bincount(places, np.concatenate(scores), len(distinct))
