from __future__ import annotations

from engine.retrieval.ranking.row_choice import is_said, list_claims, list_words, share_said

TEXT = "The mill grinds rye. Corbin bought the mill in May. It has two stones."


def claims(question: str) -> list[str]:
    return [claim.sentence for claim in list_claims(TEXT, ["Mill"], list_words(question))]


def test_sentences_about_the_question_come_with_the_best_first() -> None:
    assert claims("Who bought the mill, and when in May?") == ["Corbin bought the mill in May."]
    assert claims("When is the feast of the lanterns?") == []


def test_all_sentences_are_about_a_question_that_names_the_row_alone() -> None:
    assert len(claims("What about the mill?")) == 3


def test_a_text_says_a_sentence_if_it_has_almost_all_of_its_words() -> None:
    words = list_words("Corbin bought the mill in May.")
    assert is_said(words, [list_words("In May the mill was bought by Corbin, they say.")])
    assert not is_said(words, [list_words("Corbin"), list_words("the mill in May")])
    assert share_said(frozenset(), frozenset()) == 1.0
