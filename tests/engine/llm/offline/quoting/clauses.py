"""Scores of sentences without an embedder: what the words alone say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.llm.offline.candidates import Candidate, build_candidates
from engine.llm.offline.ranking import ClauseScores, OtherWords, build_terms, score_clause
from tests.engine.llm.offline.sources import source


def read(*texts: str, title: str = "", one_document: bool = True) -> list[Candidate]:
    """The sentences of some sources; chat lines are messages of one conversation."""
    document = "d" if one_document else ""
    return build_candidates([source(number, text, document, title) for number, text in enumerate(texts, 1)])


def score(
    question: str, candidates: Sequence[Candidate], similarity: float = 0.0, alike: OtherWords | None = None
) -> ClauseScores:
    """The scores of a question of one clause, of which all sentences are equally similar."""
    similar = np.full(len(candidates), similarity)
    return score_clause(question, build_terms(question, candidates), candidates, similar, alike or {})
