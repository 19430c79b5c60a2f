from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.text import tokenizer as budget
from engine.text.tokenizer import O200kTokenizer, count_that_fit, find_vocabulary_dir, load_encoding
from tests.support.tokenizers import CharacterTokenizer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("budget", "number"), [(10, 2), (9, 2), (8, 1), (3, 0), (14, 3), (0, 0), (-1, 0)])
def test_t1_as_many_items_as_fit_with_their_joiners(budget: int, number: int) -> None:
    assert count_that_fit(["aaaa", "bbbb", "cccc"], budget, CharacterTokenizer()) == number


def test_nothing_fits_anywhere() -> None:
    assert count_that_fit([], 0, CharacterTokenizer()) == 0


def test_the_joiner_counts_as_it_is() -> None:
    assert count_that_fit(["aaaa", "bbbb"], 9, CharacterTokenizer(), joiner="\n\n") == 1
    assert count_that_fit(["aaaa", "bbbb"], 8, CharacterTokenizer(), joiner="") == 2


@given(st.lists(st.text(max_size=5)), st.integers(0, 40))
def test_what_fits_is_the_longest_prefix(items: list[str], budget: int) -> None:
    number = count_that_fit(items, budget, CharacterTokenizer())
    assert number == 0 or len("\n".join(items[:number])) <= budget
    assert number == len(items) or len("\n".join(items[: number + 1])) > budget


class Counting(CharacterTokenizer):
    def __init__(self) -> None:
        self.counted: list[str] = []

    def count(self, text: str) -> int:
        self.counted.append(text)
        return len(text)


def test_each_item_is_counted_once_and_none_after_the_last_that_fits() -> None:
    tokenizer = Counting()
    count_that_fit(["aaaa", "bbbb", "cccc", "dddd"], 9, tokenizer)
    assert sorted(tokenizer.counted) == ["\n", "aaaa", "bbbb", "cccc"]


def test_o200k_counts_as_the_models_do() -> None:
    tokens = O200kTokenizer().encode("hello world")
    assert tokens == [24912, 2375]
    assert O200kTokenizer().decode(tokens) == "hello world"
    assert O200kTokenizer().count("hello world") == 2


def test_special_tokens_in_a_text_are_text() -> None:
    assert O200kTokenizer().count("<|endoftext|>") > 1


def test_half_a_character_decodes_to_a_replacement() -> None:
    tokens = O200kTokenizer().encode("🧬")
    assert len(tokens) > 1
    assert O200kTokenizer().decode(tokens[:1]) == "\ufffd"


@pytest.mark.parametrize("text", [" " * 600_000, "^" * 300_000, "\ud800" * 10], ids=["blanks", "carets", "surrogates"])
def test_no_text_is_too_odd_to_be_counted(text: str) -> None:
    assert O200kTokenizer().count(text) > 0


@settings(max_examples=50)
@given(st.text(st.characters(codec="utf-8")))
def test_decoding_inverts_encoding(text: str) -> None:
    assert O200kTokenizer().decode(O200kTokenizer().encode(text)) == text


@pytest.mark.parametrize("before", [None, "/somewhere/else"])
def test_loading_leaves_the_environment_as_it_was(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    if before:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
    budget._read_encoding.cache_clear()
    assert load_encoding(find_vocabulary_dir()).name == "o200k_base"
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


def test_a_vocabulary_is_loaded_once() -> None:
    assert load_encoding(find_vocabulary_dir()) is load_encoding(find_vocabulary_dir())


def test_a_missing_vocabulary_is_said_with_a_hint_and_not_downloaded(tmp_path: Path) -> None:
    for folder in (tmp_path, None):
        with pytest.raises(EngineError, match="o200k_base") as caught:
            load_encoding(folder)
        assert "litellm" in caught.value.hint
