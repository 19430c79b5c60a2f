from __future__ import annotations

import numpy as np

from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.scoring import build_terms, count_stems, score_clause
from engine.llm.offline.two_hop import find_two_hop_pair
from tests.engine.llm.offline.sources import source


def bridged(question: str, *texts: str) -> tuple[int, int] | None:
    said = build_candidates([source(number, text) for number, text in enumerate(texts, 1)])
    about = build_terms(question, count_stems(said), len(said))
    found = find_two_hop_pair(score_clause(question, about, said, np.full(len(said), 0.4), {}), said)
    return found[:2] if found else None


def test_a_name_leads_from_one_sentence_to_the_other() -> None:
    texts = ("Locker L-19 is rented by Hanna Karim.", "Hanna Karim paints the banner.", "Bo Holm paints the door.")
    assert bridged("Which banner does the tenant of locker L-19 paint?", *texts) == (0, 1)


def test_without_a_shared_name_there_is_no_bridge() -> None:
    texts = ("Locker L-19 is rented by Hanna Karim.", "Somebody paints the banner.")
    assert bridged("Which banner does the tenant of locker L-19 paint?", *texts) is None


def test_who_speaks_of_something_else_is_no_link() -> None:
    texts = ("Locker L-19 is rented by Hanna Karim.", "[2026-02-20 19:40] Hanna Karim: Bo Holm paints the banner.")
    assert bridged("Which banner does the tenant of locker L-19 paint?", *texts) is None


def test_somebody_who_speaks_of_themselves_is_meant() -> None:
    texts = ("[2026-02-20 19:40] Hanna Karim: I rent locker L-19.", "Hanna Karim paints the banner.")
    assert bridged("Which banner does the tenant of locker L-19 paint?", *texts) == (0, 1)
