from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.text import tokenizer as budget
from engine.text.tokenizer import O200k, fit, load, vocabulary_folder
from tests.support.tokenizers import Characters

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("budget", "number"), [(10, 2), (9, 2), (8, 1), (3, 0), (14, 3), (0, 0), (-1, 0)])
def test_t1_as_many_items_as_fit_with_their_joiners(budget: int, number: int) -> None:
    assert fit(["aaaa", "bbbb", "cccc"], budget, Characters()) == number


def test_nothing_fits_anywhere() -> None:
    assert fit([], 0, Characters()) == 0


def test_the_joiner_counts_as_it_is() -> None:
    assert fit(["aaaa", "bbbb"], 9, Characters(), joiner="\n\n") == 1
    assert fit(["aaaa", "bbbb"], 8, Characters(), joiner="") == 2


@given(st.lists(st.text(max_size=5)), st.integers(0, 40))
def test_what_fits_is_the_longest_prefix(items: list[str], budget: int) -> None:
    number = fit(items, budget, Characters())
    assert number == 0 or len("\n".join(items[:number])) <= budget
    assert number == len(items) or len("\n".join(items[: number + 1])) > budget


class Counting(Characters):
    def __init__(self) -> None:
        self.counted: list[str] = []

    def count(self, text: str) -> int:
        self.counted.append(text)
        return len(text)


def test_each_item_is_counted_once_and_none_after_the_last_that_fits() -> None:
    tokenizer = Counting()
    fit(["aaaa", "bbbb", "cccc", "dddd"], 9, tokenizer)
    assert sorted(tokenizer.counted) == ["\n", "aaaa", "bbbb", "cccc"]


def test_o200k_counts_as_the_models_do() -> None:
    tokens = O200k().encode("hello world")
    assert tokens == [24912, 2375]
    assert O200k().decode(tokens) == "hello world"
    assert O200k().count("hello world") == 2


def test_special_tokens_in_a_text_are_text() -> None:
    assert O200k().count("<|endoftext|>") > 1


def test_half_a_character_decodes_to_a_replacement() -> None:
    tokens = O200k().encode("🧬")
    assert len(tokens) > 1
    assert O200k().decode(tokens[:1]) == "\ufffd"


@pytest.mark.parametrize("text", [" " * 600_000, "^" * 300_000, "\ud800" * 10], ids=["blanks", "carets", "surrogates"])
def test_no_text_is_too_odd_to_be_counted(text: str) -> None:
    assert O200k().count(text) > 0


@settings(max_examples=50)
@given(st.text(st.characters(codec="utf-8")))
def test_decoding_inverts_encoding(text: str) -> None:
    assert O200k().decode(O200k().encode(text)) == text


@pytest.mark.parametrize("before", [None, "/somewhere/else"])
def test_loading_leaves_the_environment_as_it_was(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    if before:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
    budget._read.cache_clear()
    assert load(vocabulary_folder()).name == "o200k_base"
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


def test_a_vocabulary_is_loaded_once() -> None:
    assert load(vocabulary_folder()) is load(vocabulary_folder())


def test_a_missing_vocabulary_is_said_with_a_hint_and_not_downloaded(tmp_path: Path) -> None:
    for folder in (tmp_path, None):
        with pytest.raises(EngineError, match="o200k_base") as caught:
            load(folder)
        assert "litellm" in caught.value.hint
