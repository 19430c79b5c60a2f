from __future__ import annotations

from engine.retrieval.ranking.passages import PieceId, SourceChoice, order_pieces
from engine.storage.ledger.records import ChunkText, PieceText


def make_chunk(id_: int, *texts: str) -> ChunkText:
    pieces = tuple(
        PieceText(f"p{at}", f"d{id_}", "Title", "", "", "Ada", None, text, "s", "r") for at, text in enumerate(texts)
    )
    return ChunkText(id_, f"c{id_}", f"d{id_}", "\n".join(texts), pieces)


TALK, RULES = make_chunk(1, "aaaa", "bb", "cc"), make_chunk(2, "dddddd", "e")


def choose(budget: int, chunks: int = 9) -> SourceChoice:
    choice = SourceChoice([TALK, RULES], lambda piece, _: len(piece.text), chunks)
    choice.fill(order_pieces([TALK, RULES], {}), budget, chunks)
    return choice


def texts_of(choice: SourceChoice) -> list[list[str]]:
    return [[piece.text for piece in text.pieces] for text in choice.list_chosen()]


def test_pieces_are_taken_while_they_fit_and_one_too_long_is_passed_over() -> None:
    assert texts_of(choose(15)) == [["aaaa", "bb", "cc"], ["dddddd", "e"]]
    assert texts_of(choose(10)) == [["aaaa", "bb", "cc"], ["e"]]
    assert texts_of(choose(3)) == [["bb"], ["e"]]
    assert texts_of(choose(0)) == []


def test_at_most_so_many_chunks_give_pieces() -> None:
    assert texts_of(choose(15, 1)) == [["aaaa", "bb", "cc"]]


def test_a_piece_counts_once() -> None:
    choice = choose(4)
    assert choice.add(PieceId(1, 0), 4, 9)
    assert choice.tokens == 4
    assert not choice.add(PieceId(1, 1), 4, 9)


def test_scored_pieces_change_places_among_themselves() -> None:
    scores = {("d1", "p0"): 0.1, ("d1", "p2"): 0.9, ("d2", "p1"): 0.5}
    order = order_pieces([TALK, RULES], scores)
    assert order == [PieceId(1, 2), PieceId(1, 1), PieceId(2, 1), PieceId(2, 0), PieceId(1, 0)]
