from __future__ import annotations

from engine.llm.offline.words import content_stems
from engine.retrieval.ranking.passages import SourceChoice, order_pieces
from engine.retrieval.ranking.row_choice import (
    RowBudget,
    RowCandidate,
    RowChoice,
    is_said,
    list_claims,
    share_said,
)
from tests.engine.retrieval.ranking.test_source_choice import make_chunk

NOON = make_chunk(1, "The ferry sails at noon.", "Ada waved.")
OWNER = make_chunk(2, "The ferry belongs to the widow Thorne.")
MILL = make_chunk(3, "Corbin runs the mill.")
CHUNKS = (NOON, OWNER, MILL)


def choose(
    question: str, *rows: RowCandidate, shown: int = 1, tokens: int = 200, chunks: int = 9
) -> tuple[dict[int, str], list[int]]:
    """The rows chosen when the first chunks are sources, and the chunks that are sources then."""
    choice = SourceChoice(CHUNKS, lambda piece, _: len(piece.text), chunks)
    choice.fill(order_pieces(CHUNKS[:shown], {}), 10**6, chunks)
    budget = RowBudget(tokens, 10**6, chunks, lambda _, text: len(text))
    found = RowChoice(rows, choice, budget, question).choose()
    return found, [text.id for text in choice.list_chosen()]


def entity(name: str, description: str, *evidence: int, spellings: tuple[str, ...] = ()) -> RowCandidate:
    return RowCandidate((name,), description, evidence, spellings)


def test_a_row_that_a_source_says_is_not_shown() -> None:
    ferry = entity("Ferry", "The ferry sails at noon.", 1)
    assert choose("When does the ferry sail?", ferry) == ({}, [1])


def test_the_passage_behind_a_description_becomes_a_source() -> None:
    ferry = entity("Ferry", "The ferry sails at noon. The ferry belongs to the widow Thorne.", 1, 2)
    assert choose("Who does the ferry belong to?", ferry) == ({}, [1, 2])


def test_a_sentence_that_no_passage_has_in_these_words_is_shown_with_the_passage() -> None:
    ferry = entity(
        "Ferry", "The ferry belongs to Thorne, who inherited it and repaired her keel twice in winter storms.", 2
    )
    rows, sources = choose("Who does the ferry belong to?", ferry)
    assert rows == {}
    assert sources == [1]  # too few of its words are in the passage: it does not support the sentence
    ferry = entity("Ferry", "The ferry belongs to Thorne, who inherited it in spring.", 2)
    rows, sources = choose("Who does the ferry belong to?", ferry)
    assert rows == {0: "The ferry belongs to Thorne, who inherited it in spring."}
    assert sources == [1, 2]


def test_what_the_question_does_not_ask_is_not_shown() -> None:
    assert choose("When is the feast?", entity("Mill", "Corbin runs the mill.", 3)) == ({}, [1])


def test_nothing_is_shown_that_cannot_be_cited() -> None:
    assert choose("Who owns the ferry?", entity("Ferry", "Thorne owns the ferry.", 77)) == ({}, [1])
    assert choose("Who runs the mill?", entity("Mill", "Corbin runs the mill.", 3), chunks=1) == ({}, [1])
    assert choose("Who runs the mill?", entity("Mill", "Corbin runs the mill.", 3), tokens=5) == ({}, [1])


def test_a_relation_between_names_of_different_sources_is_shown() -> None:
    link = RowCandidate(("Thorne", "Corbin"), "The widow of the ferry is a sister of the miller.", (2,))
    assert choose("Where is the anchor?", link, shown=3)[0] == {0: "The widow of the ferry is a sister of the miller."}
    assert choose("Where is the anchor?", link, shown=1)[0] == {}


def test_a_relation_is_not_shown_with_a_source_that_says_something_else() -> None:
    dismissed, paid = "Thorne dismissed Corbin in May for theft.", "Thorne's ferry belongs to Corbin as well."
    assert choose("Where is the anchor?", RowCandidate(("Thorne", "Corbin"), dismissed, (2, 77)), shown=3)[0] == {}
    both = RowCandidate(("Thorne", "Corbin"), f"{dismissed} {paid}", (2, 77))
    assert choose("Where is the anchor?", both, shown=3)[0] == {0: paid}


def test_an_entity_that_sources_call_otherwise_than_the_question_is_shown() -> None:
    thorne = entity("Thorne", "", 2, spellings=("thorne", "the owl"))
    assert choose("What does The Owl have?", thorne, shown=2)[0] == {0: "Also called: thorne."}
    assert choose("What does Thorne have?", thorne, shown=2)[0] == {}


MILL_TEXT = "The mill grinds rye. Corbin bought the mill in May. It has two stones."


def list_sentences(question: str) -> list[str]:
    return [claim.sentence for claim in list_claims(MILL_TEXT, ["Mill"], content_stems(question))]


def test_sentences_about_the_question_come_with_the_best_first() -> None:
    assert list_sentences("Who bought the mill, and when in May?") == ["Corbin bought the mill in May."]
    assert list_sentences("When is the feast of the lanterns?") == []


def test_all_sentences_are_about_a_question_that_names_the_row_alone() -> None:
    assert len(list_sentences("What about the mill?")) == 3


def test_a_text_says_a_sentence_if_it_has_almost_all_of_its_words() -> None:
    words = content_stems("Corbin bought the mill in May.")
    assert is_said(words, [content_stems("In May the mill was bought by Corbin, they say.")])
    assert not is_said(words, [content_stems("Corbin"), content_stems("the mill in May")])
    assert share_said(frozenset(), frozenset()) == 1.0
