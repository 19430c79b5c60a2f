"""The windows of K1 (C4 to C13)."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.ingest.chunking import ChunkTooLong, split_at_separators
from engine.options import ChunkingOptions
from engine.text.tokenizer import O200kTokenizer
from engine.text.windows import Tokenizer, split_by_tokens, token_windows
from tests.support.tokenizers import ByteTokenizer, CharacterTokenizer, UnevenTokenizer

LETTERS = "0123456789abcdefghijklmno"
TOKENIZERS: list[Tokenizer] = [CharacterTokenizer(), ByteTokenizer(), UnevenTokenizer(), O200kTokenizer()]


def texts(text: str, tokenizer: Tokenizer, size: int, overlap: int) -> list[str]:
    return [text[span.start : span.stop] for span in token_windows(text, tokenizer, size, overlap)]


def test_c4_windows_share_the_overlap() -> None:
    assert texts(LETTERS, CharacterTokenizer(), 10, 3) == ["0123456789", "789abcdefg", "efghijklmn", "lmno"]
    assert token_windows(LETTERS, CharacterTokenizer(), 10, 3)[-1].tokens == 4


def test_c5_without_overlap_they_lie_side_by_side() -> None:
    assert texts("a" * 30, CharacterTokenizer(), 10, 0) == ["a" * 10] * 3


@pytest.mark.parametrize(("size", "overlap"), [(50, 100), (10, 10), (10, -1), (0, 0)])
def test_c7_an_overlap_that_does_not_go_with_the_size_is_an_error(size: int, overlap: int) -> None:
    for call in (
        lambda: token_windows("text", CharacterTokenizer(), size, overlap),
        lambda: split_at_separators("text", CharacterTokenizer(), "\n", only=False, size=size, overlap=overlap),
        lambda: split_at_separators("text", CharacterTokenizer(), "\n", only=True, size=size, overlap=overlap),
        lambda: ChunkingOptions(size=size, overlap=overlap),
    ):
        with pytest.raises(ValueError, match=rf"{overlap}.*{size}"):
            call()


@pytest.mark.parametrize("nothing", ["", " \n\t ", "\u3000"])
def test_c9_nothing_gives_no_window(nothing: str) -> None:
    assert token_windows(nothing, CharacterTokenizer(), 10, 3) == []


def test_c10_c11_no_window_lies_within_the_previous_one() -> None:
    assert texts(LETTERS[:10], CharacterTokenizer(), 10, 3) == ["0123456789"]
    assert texts(LETTERS[:17], CharacterTokenizer(), 10, 3) == ["0123456789", "789abcdefg"]


def test_c12_limits_count_tokens_not_characters() -> None:
    assert texts("ABCDE", UnevenTokenizer(), 4, 0) == ["AB", "CD", "E"]
    assert texts("ab.cd!ef", UnevenTokenizer(), 5, 0) == ["ab.", "cd!", "ef"]
    with pytest.raises(ChunkTooLong, match="6 tokens"):
        split_at_separators("ABC", UnevenTokenizer(), "\n", only=True, size=5, overlap=0)


def test_c13_a_text_is_split_plainly_by_tokens() -> None:
    assert split_by_tokens("abcdefghij", CharacterTokenizer(), 4) == ["abcd", "efgh", "ij"]
    assert split_by_tokens("", CharacterTokenizer(), 4) == []
    assert split_by_tokens("abc", CharacterTokenizer(), 0) == split_by_tokens("abc", CharacterTokenizer(), -1) == []


def test_windows_lose_the_blanks_at_their_ends_and_keep_their_places() -> None:
    assert texts("  abcd  efgh  ", CharacterTokenizer(), 6, 0) == ["abcd", "efgh"]
    assert [(span.start, span.stop) for span in token_windows("  abcd  efgh  ", CharacterTokenizer(), 6, 0)] == [
        (2, 6),
        (8, 12),
    ]


def test_a_token_boundary_inside_a_character_cuts_before_it() -> None:
    assert texts("ab中文字", ByteTokenizer(), 4, 0) == ["ab", "中", "文", "字"]
    assert texts("ab中文字", ByteTokenizer(), 6, 2) == ["ab中", "中文", "文字"]


def test_a_character_that_is_wider_than_the_size_stands_alone() -> None:
    assert texts("a😀b", ByteTokenizer(), 2, 1) == ["a", "😀", "b"]


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda tokenizer: type(tokenizer).__name__)
@settings(max_examples=60)
@given(st.text(st.sampled_from("aB. \n中😀\ufffdé"), max_size=200), st.integers(4, 20), st.integers(0, 3))
def test_windows_hold_everything_within_the_limit(tokenizer: Tokenizer, text: str, size: int, overlap: int) -> None:
    spans = token_windows(text, tokenizer, size, overlap)
    assert all(span.tokens == tokenizer.count(text[span.start : span.stop]) <= size for span in spans)
    assert all(one.start < two.start and one.stop < two.stop for one, two in pairwise(spans))
    held = {index for span in spans for index in range(span.start, span.stop)}
    assert all(index in held for index, character in enumerate(text) if not character.isspace())


def test_hostile_texts_are_cut_in_linear_time() -> None:
    started = time.perf_counter()
    for text in (" " * 300_000 + "x", "x" + "😀" * 20_000, "\ufffd" * 100_000, "^" * 200_000):
        assert all(span.tokens <= 1200 for span in token_windows(text, O200kTokenizer()))
    assert time.perf_counter() - started < 5
