from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from engine.options import RankingOptions
from engine.retrieval.ranking.passages import (
    RatedChunk,
    asks_what_was_said,
    find_named,
    order_passages,
    rate_passages,
    spread_over_pieces,
)
from engine.storage.ledger.records import ChunkText, PieceText

PLAIN = RankingOptions(neighbor_share=0.0, passage_rank_weight=0.0)


def chunk(id_: int, *passages: str) -> ChunkText:
    pieces = tuple(
        PieceText(name, "talk", "Talk", "", "", "Ada", None, f"words {name}", "here", "room") for name in passages
    )
    return ChunkText(id_, str(id_), "talk", " ".join(passages), pieces)


def rate(options: RankingOptions, *chunks: RatedChunk) -> list[str]:
    scores = rate_passages(chunks, options)
    return [passage for _, passage in sorted(scores, key=lambda key: -scores[key])]


def test_the_message_with_the_words_comes_before_its_window() -> None:
    assert rate(PLAIN, RatedChunk(chunk(1, "a", "b", "c"), 0.0, (0.5,), (0.0, 0.0, 2.0))) == ["c", "a", "b"]


def test_messages_of_several_windows_compete() -> None:
    first, second = chunk(1, "a", "b"), chunk(2, "c", "d")
    rated = RatedChunk(first, 0.0, (0.2, 0.9), (0.0, 0.0)), RatedChunk(second, 0.5, (0.6, 0.1), (0.0, 0.0))
    assert rate(PLAIN, *rated) == ["b", "c", "a", "d"]


def test_the_rank_of_the_window_counts() -> None:
    rated = RatedChunk(chunk(1, "a"), 0.5, (0.5,), (0.0,)), RatedChunk(chunk(2, "b"), 0.0, (0.5,), (0.0,))
    assert rate(RankingOptions(), *rated) == ["b", "a"]


def test_the_reply_to_the_best_message_gains() -> None:
    rated = RatedChunk(chunk(1, "question", "reply", "x", "y"), 0.0, (), (3.0, 0.0, 0.2, 0.1))
    assert rate(RankingOptions(neighbor_span=1), rated)[:2] == ["question", "reply"]


def test_what_a_named_person_wrote_gains() -> None:
    talk = chunk(1, "a", "b")
    other = replace(talk.pieces[1], author="Bob")
    rated = RatedChunk(replace(talk, pieces=(talk.pieces[0], other)), 0.0, (), (1.0, 0.8))
    assert rate(PLAIN, rated) == ["a", "b"]
    scores = rate_passages([rated], PLAIN, find_named("What did Bob bake?", ["Ada", "Bob"]))
    assert max(scores, key=lambda key: scores[key]) == ("talk", "b")


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Where does Ada live?", {"Ada Quill", "ada"}),
        ("What are ada quill's plans?", {"Ada Quill"}),
        ("How many kilns are there?", set()),
        ("Will it rain?", set()),
        ("May we see the mark?", set()),
        ("田中さんは何を言いましたか？", {"田中"}),
        ("What did project manager say?", {"Project Manager"}),
        ("What did the project manager say?", set()),
        ("Which project did they name?", set()),
    ],
)
def test_an_author_is_named_by_the_whole_name_or_the_first_one(question: str, named: set[str]) -> None:
    authors = ["Ada Quill", "ada", "Will Stone", "mark", "田中", "Project Manager", "", "X"]
    assert find_named(question, authors) == named


@pytest.mark.parametrize(
    ("question", "authors", "named"),
    [
        ("What did Dr Reed say?", ["Dr. Ada Lund"], []),
        ("What did Ada say?", ["Dr. Ada Lund"], ["Dr. Ada Lund"]),
        ("What did Dr. Ada Lund bake?", ["Ada Lund"], ["Ada Lund"]),
        ("Mr. Reed?", ["Mr. Lund"], []),
        ("Mark all loaves as done", ["Mark"], []),
        ("What does Mark Lund bake?", ["Mark Lund"], ["Mark Lund"]),
        ("New oven?", ["New User"], []),
        ("Deleted loaves", ["Deleted User"], []),
        ("née à Paris", ["né"], []),
        ("Das wäre es", ["är"], []),
        ("What did Álvaro bake?", ["álvaro"], ["álvaro"]),
        ("田中さんは?", ["田中"], ["田中"]),
        ("What did Grad F build?", ["Grad B", "Grad F"], ["Grad F"]),
        ("What did Ada Lund bake?", ["Ada Lund", "Ada Quill", "ada"], ["Ada Lund"]),
        ("What did Ada bake?", ["Ada Lund", "Ada Quill"], ["Ada Lund", "Ada Quill"]),
    ],
)
def test_titles_and_common_words_name_nobody(question: str, authors: list[str], named: list[str]) -> None:
    assert find_named(question, authors) == set(named)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What did Ada say about the kiln?", True),
        ("How did Ada respond to the plan?", True),
        ("What is Ada's opinion on the kiln?", True),
        ("Was hat Ada zum Ofen gesagt?", True),
        ("Qu'est-ce qu'Ada pense du four ?", True),
        ("¿Qué opina Ada del horno?", True),
        ("O que a Ada disse sobre o forno?", True),
        ("田中さんは何を言いましたか？", True),
        ("What did Ada tell the guild?", True),
        ("What did Ada comment on?", True),
        ("What did Ada state about the kiln?", True),
        ("Was erzählte Ada vom Ofen?", True),
        ("¿Qué contó Ana del horno?", True),
        ("¿Qué dice Ana del horno?", True),
        ("O que a Ada falou do forno?", True),
        ("田中さんはどう思いますか？", True),
        ("In which state does Ada live?", False),
        ("What is the view from Ada's house?", False),
        ("What is Ada responsible for?", False),
        ("What is Ada's dissertation about?", False),
        ("How many dice does Ada own?", False),
        ("When is Ada's talk?", False),
        ("Comment Ada a-t-elle chauffé le four ?", False),
        ("Wann war Ada am Denkmal?", False),
        ("田中さんの説明書はどこ？", False),
        ("When did Ada mend the kiln?", False),
        ("What does Ada bake on Sundays?", False),
        ("Wann hat Ada den Ofen repariert?", False),
        ("Wo ist mein Ofen?", False),
        ("Which pens did Ada buy?", False),
        ("Où travaille Ada ?", False),
        ("¿Dónde vive Ada?", False),
        ("田中さんはどこに住んでいますか？", False),
    ],
)
def test_what_somebody_said_is_asked_in_many_words(question: str, *, asks: bool) -> None:
    assert asks_what_was_said(question) is asks


@pytest.mark.parametrize(
    ("similarities", "lengths", "spread"),
    [
        pytest.param((0.1, 0.9), (5, 5), [0.1, 0.9], id="a part each"),
        pytest.param((0.1, 0.9), (2, 6, 2), [0.1, 0.9, 0.9], id="a piece across two parts has the better one"),
        pytest.param((0.4,), (3, 4), [0.4, 0.4], id="one part"),
        pytest.param((), (3, 4), [0.0, 0.0], id="no vector"),
        pytest.param((0.1, 0.2), (0, 0), [0.1, 0.1], id="empty pieces"),
    ],
)
def test_pieces_have_the_similarity_of_their_parts(
    similarities: Sequence[float], lengths: Sequence[int], spread: list[float]
) -> None:
    assert spread_over_pieces(similarities, lengths) == spread


def test_passages_without_scores_keep_their_places() -> None:
    file, talk = chunk(1, "p1", "p2"), chunk(2, "a", "b")
    scores = {("talk", "a"): 0.1, ("talk", "b"): 0.7}
    assert [name for _, name in order_passages([talk, file], scores)] == ["b", "a", "p1", "p2"]
