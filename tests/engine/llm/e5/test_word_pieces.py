from __future__ import annotations

import pytest

from engine.llm.e5 import embedder
from engine.llm.e5.embedder import FIRST_MARKER, LAST_MARKER, MAX_WORD_PIECES, UNKNOWN_PIECE, WordPieceTokenizer

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁boat", "s", "▁bo", "ats", "a", "b", "ß", "ó"]
SCORES = [0.0, 0.0, 0.0, 0.0, -3.0, -4.0, -3.0, -5.0, -6.0, -4.0, -4.0, -7.0, -7.0]


@pytest.fixture
def tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer(PIECES, SCORES, {ord("\n"): " ", ord("ﬆ"): "st", ord("\u200b"): ""})


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        pytest.param("boats", ["▁boat", "s"], id="the pieces with the greatest sum"),
        pytest.param("  boats \n boats ", ["▁boat", "s", "▁boat", "s"], id="spaces and lines"),
        pytest.param("ß", ["▁", "ß"], id="a rare piece"),
        pytest.param("boat\u200bs", ["▁boat", "s"], id="a removed character"),
        pytest.param("o\u0301", ["▁", "ó"], id="a letter and its mark"),
        pytest.param("", ["▁"], id="nothing"),
        pytest.param("xyz", ["▁", "<unk>"], id="adjacent unknown characters"),
        pytest.param("xax", ["▁", "<unk>", "a", "<unk>"], id="unknown characters apart"),
    ],
)
def test_words_are_divided_into_the_most_likely_pieces(
    tokenizer: WordPieceTokenizer, text: str, pieces: list[str]
) -> None:
    ids = [FIRST_MARKER, *map(PIECES.index, pieces), LAST_MARKER]
    assert tokenizer.tokenize(text) == ids
    assert tokenizer.tokenize(text) == ids  # of words that are known


def test_a_long_text_is_cut_off(tokenizer: WordPieceTokenizer) -> None:
    ids = tokenizer.tokenize("boats " * 600)
    assert len(ids) == MAX_WORD_PIECES
    assert ids[-1] == LAST_MARKER
    assert len(tokenizer.tokenize("ab" * 5000)) == MAX_WORD_PIECES


def test_few_words_are_kept(tokenizer: WordPieceTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "MAX_KEPT_WORDS", 3)
    tokenizer.tokenize("a ab aab abb aabb")
    assert len(tokenizer._kept) <= 3
    assert UNKNOWN_PIECE not in tokenizer.tokenize("aabb")
