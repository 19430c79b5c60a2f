"""The windows of K1 (C4 to C13)."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.options import ChunkingOptions
from engine.text.tokenizer import O200kTokenizer, Tokenizer, token_windows
from tests.support.tokenizers import ByteTokenizer, CharacterTokenizer, UnevenTokenizer

LETTERS = "0123456789abcdefghijklmno"
CHARACTERS, BYTES, UNEVEN = CharacterTokenizer(), ByteTokenizer(), UnevenTokenizer()


@pytest.mark.parametrize(
    ("text", "tokenizer", "size", "overlap", "windows"),
    [
        pytest.param(LETTERS, CHARACTERS, 10, 3, ["0123456789", "789abcdefg", "efghijklmn", "lmno"], id="c4 overlap"),
        pytest.param("a" * 30, CHARACTERS, 10, 0, ["a" * 10] * 3, id="c5 no overlap"),
        pytest.param(" \n\t ", CHARACTERS, 10, 3, [], id="c9 blanks"),
        pytest.param("", CHARACTERS, 10, 3, [], id="c9 empty"),
        pytest.param("\u3000", CHARACTERS, 10, 3, [], id="c9 wide blank"),
        pytest.param(LETTERS[:10], CHARACTERS, 10, 3, ["0123456789"], id="c10 none within the previous"),
        pytest.param(LETTERS[:17], CHARACTERS, 10, 3, ["0123456789", "789abcdefg"], id="c11 none within the previous"),
        pytest.param("ABCDE", UNEVEN, 4, 0, ["AB", "CD", "E"], id="c12 tokens, not characters"),
        pytest.param("ab.cd!ef", UNEVEN, 5, 0, ["ab.", "cd!", "ef"], id="c12 sentence marks"),
        pytest.param("  abcd  efgh  ", CHARACTERS, 6, 0, ["abcd", "efgh"], id="blanks at the ends"),
        pytest.param("ab中文字", BYTES, 4, 0, ["ab", "中", "文", "字"], id="boundary inside a character"),
        pytest.param("ab中文字", BYTES, 6, 2, ["ab中", "中文", "文字"], id="overlap inside a character"),
        pytest.param("a😀b", BYTES, 2, 1, ["a", "😀", "b"], id="character wider than the size"),
    ],
)
def test_a_text_is_cut_into_windows(
    text: str, tokenizer: Tokenizer, size: int, overlap: int, windows: list[str]
) -> None:
    assert [text[span.start : span.stop] for span in token_windows(text, tokenizer, size, overlap)] == windows


def test_windows_know_their_tokens_and_places() -> None:
    spans = token_windows("  abcd  efgh  ", CHARACTERS, 6, 0)
    assert [(span.start, span.stop, span.tokens) for span in spans] == [(2, 6, 4), (8, 12, 4)]


@pytest.mark.parametrize(("size", "overlap"), [(50, 100), (10, 10), (10, -1), (0, 0)])
def test_c7_an_overlap_that_does_not_suit_the_size_is_an_error(size: int, overlap: int) -> None:
    for call in (
        lambda: token_windows("text", CHARACTERS, size, overlap),
        lambda: ChunkingOptions(size=size, overlap=overlap),
    ):
        with pytest.raises(ValueError, match=rf"{overlap}.*{size}"):
            call()


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "tokenizer", [CHARACTERS, BYTES, UNEVEN, O200kTokenizer()], ids=lambda tokenizer: type(tokenizer).__name__
)
@settings(max_examples=60)
@given(st.text(st.sampled_from("aB. \n中😀\ufffdé"), max_size=200), st.integers(4, 20), st.integers(0, 3))
def test_windows_hold_everything_within_the_limit(tokenizer: Tokenizer, text: str, size: int, overlap: int) -> None:
    spans = token_windows(text, tokenizer, size, overlap)
    assert all(span.tokens == tokenizer.count(text[span.start : span.stop]) <= size for span in spans)
    assert all(one.start < two.start and one.stop < two.stop for one, two in pairwise(spans))
    covered = {index for span in spans for index in range(span.start, span.stop)}
    assert all(index in covered for index, character in enumerate(text) if not character.isspace())


@pytest.mark.long
def test_hostile_texts_are_cut_in_linear_time() -> None:
    started = time.process_time()
    for text in (" " * 300_000 + "x", "x" + "😀" * 20_000, "\ufffd" * 100_000, "^" * 200_000):
        assert all(span.tokens <= 1200 for span in token_windows(text, O200kTokenizer()))
    assert time.process_time() - started < 20
