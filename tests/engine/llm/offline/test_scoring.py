from __future__ import annotations

import numpy as np

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.scoring import (
    MAX_SYNONYM_SHARE,
    SYNONYM_COSINE,
    Synonyms,
    build_terms,
    count_stems,
    score_clause,
    synonym_share,
)
from tests.engine.llm.offline.sources import source

NO_LIKES: Synonyms = {}


def supports(question: str, *texts: str, likes: Synonyms = NO_LIKES) -> list[float]:
    said = build_candidates([source(number, text) for number, text in enumerate(texts, 1)])
    about = build_terms(question, count_stems(said), len(said))
    return [float(each) for each in score_clause(question, about, said, np.full(len(said), 0.5), likes).support]


def test_rare_words_weigh_more_than_frequent_and_generic_ones() -> None:
    said = build_candidates(
        [source(number, f"The boat of {name} sails.") for number, name in enumerate(["Ada", "Bo", "Cy"], 1)]
    )
    weights = {
        term.stem: term.weight
        for term in build_terms("Which boat of Ada gets a new rudder?", count_stems(said), len(said))
    }
    assert weights["rudder"] > weights["ada"] > weights["boat"] > weights["new"]


def test_hints_in_brackets_weigh_less() -> None:
    weights = {term.stem: term.weight for term in build_terms("Is the mast dear? (rudder)", {}, 0)}
    assert weights["rudder"] < weights["mast"]


def test_a_sentence_that_covers_the_question_supports_more_than_one_that_only_names_its_name() -> None:
    covered, named = supports("Which wine does Ada sell?", "Ada can sell red wine.", "Ada is at home.")
    assert covered > named + 0.3


def test_another_permit_is_not_the_permit_asked_for() -> None:
    right, wrong = supports("Who keeps permit 17-B?", "Ada keeps permit 17-B.", "Ada keeps permit 21-A.")
    assert right > wrong + 0.5


def test_the_missing_focus_counts_against_a_sentence() -> None:
    with_it, without = supports(
        "What is the password of the network?", "The network has a password.", "The network works."
    )
    assert with_it > without + 0.5


def test_a_measure_speaks_for_the_quality_it_measures() -> None:
    hot, high = supports(
        "How hot does the kiln get?", "The kiln reaches 1,280 degrees.", "The kiln stands on 2 bricks."
    )
    assert hot > high


def test_likes_stand_for_terms() -> None:
    (plain,) = supports("When does the boss bake?", "Ada bakes at noon.")
    (known,) = supports("When does the boss bake?", "Ada bakes at noon.", likes={"boss": {"ada": 0.8}})
    assert known > plain
    assert synonym_share(0.2) == 0
    assert synonym_share(SYNONYM_COSINE + 0.05) == MAX_SYNONYM_SHARE
