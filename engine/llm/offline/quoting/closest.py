"""Choose the passages closest to a question that nothing answers. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engine.llm.offline.ranking import find_topics
from engine.llm.offline.words import count_words
from engine.text.languages.unspaced import has_unspaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate
    from engine.llm.offline.ranking import ClauseScores

MAX_CLOSEST = 3
MIN_SHARE = 0.18  # of a question's words, without its names, in a passage that is near
MIN_SIMILARITY = 0.27  # of a passage that has none of these words
MIN_NAMELESS_SIMILARITY = 0.43  # if it has no name of the question either, and the question has some
SCORE_MARGIN = 0.3  # how much worse than the best one a further passage may be
MIN_WORDS = 4


def select_closest(candidates: Sequence[Candidate], clauses: Sequence[ClauseScores]) -> list[int]:
    """The positions of the sentences that are near, best first; none if nothing is."""
    chosen: list[int] = []
    for clause in clauses:
        ranked = [int(at) for at in np.argsort(-clause.score, kind="stable") if _is_near(int(at), clause, candidates)]
        if ranked:
            floor = clause.score[ranked[0]] - SCORE_MARGIN
            chosen += [at for at in ranked[:MAX_CLOSEST] if clause.score[at] >= floor]
    return list(dict.fromkeys(chosen))[:MAX_CLOSEST]


def _is_near(at: int, clause: ClauseScores, candidates: Sequence[Candidate]) -> bool:
    """Whether a sentence shares words with a question besides its names, or says something similar."""
    if candidates[at].is_title or candidates[at].is_question or count_words(candidates[at].text) < MIN_WORDS:
        return False
    names = np.array([term.is_name for term in clause.terms], dtype=bool)
    covered = clause.coverage[at]
    topics = find_topics(clause.terms)
    share = float(covered[topics] @ clause.weights[topics] / (clause.weights[topics].sum() or 1.0))
    if share >= MIN_SHARE and (clause.own[at] > 0).any():
        return True
    if has_unspaced(candidates[at].text):  # all texts of such a script are similar to the embedded model
        return False
    lacks_names = bool(names.any()) and not covered[names].any()
    if names.any() and not lacks_names:  # similar because of the name alone
        return share > 0 and clause.similarity[at] >= MIN_SIMILARITY
    return float(clause.similarity[at]) >= (MIN_NAMELESS_SIMILARITY if lacks_names else MIN_SIMILARITY)
