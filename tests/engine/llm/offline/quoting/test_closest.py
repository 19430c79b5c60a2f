"""The passages closest to a question that nothing answers."""

from __future__ import annotations

from engine.llm.offline.quoting.closest import select_closest
from tests.engine.llm.offline.quoting.clauses import read, score

TEXTS = (
    "The ferry takes bicycles on Sundays. The ferry leaves at noon.",
    "Where is the ferry now?",
    "Ada Byron likes herring in the morning.",
)


def closest(question: str, similarity: float) -> list[str]:
    candidates = read(*TEXTS)
    return [candidates[at].text for at in select_closest(candidates, [score(question, candidates, similarity)])]


def test_a_passage_with_words_of_the_question_is_near() -> None:
    assert closest("Does the ferry take horses?", 0.0)[0] == "The ferry takes bicycles on Sundays."


def test_a_similar_passage_without_its_words_is_near() -> None:
    assert closest("May dogs swim?", 0.5)
    assert closest("May dogs swim?", 0.1) == []


def test_a_name_alone_makes_nothing_near() -> None:
    assert TEXTS[2] not in closest("When is the birthday of Ada Byron?", 0.6)


def test_a_question_is_no_answer() -> None:
    assert "Where is the ferry now?" not in closest("Where does the ferry land?", 0.2)
