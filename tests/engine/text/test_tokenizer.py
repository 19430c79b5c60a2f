from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.text import tokenizer
from engine.text.tokenizer import O200kTokenizer, count_fitting, find_vocabulary_dir, load_encoding
from tests.support.tokenizers import CharacterTokenizer

O200K = O200kTokenizer()


@pytest.mark.parametrize(
    ("count", "budget", "joiner", "fitting"),
    [
        *((3, budget, "\n", n) for budget, n in ((14, 3), (10, 2), (9, 2), (8, 1), (3, 0), (0, 0), (-1, 0))),
        (2, 9, "\n\n", 1),
        (2, 8, "", 2),
        (0, 0, "\n", 0),
    ],
)
def test_t1_as_many_items_as_fit_with_their_joiners(count: int, budget: int, joiner: str, fitting: int) -> None:
    items = ["aaaa", "bbbb", "cccc"][:count]
    sizes = count_fitting(items, budget, CharacterTokenizer(), joiner=joiner)
    assert sizes == [4 + len(joiner)] * fitting


@given(st.lists(st.text(max_size=5)), st.integers(0, 40))
def test_what_fits_is_the_longest_prefix(items: list[str], budget: int) -> None:
    number = len(count_fitting(items, budget, CharacterTokenizer()))
    assert number == 0 or len("\n".join(items[:number])) <= budget
    assert number == len(items) or len("\n".join(items[: number + 1])) > budget


def test_each_item_is_counted_once_and_none_after_the_last_that_fits() -> None:
    counted = list[str]()

    class Recording(CharacterTokenizer):
        def count(self, text: str) -> int:
            counted.append(text)
            return len(text)

    count_fitting(["aaaa", "bbbb", "cccc", "dddd"], 9, Recording())
    assert sorted(counted) == ["\n", "aaaa", "bbbb", "cccc"]


def test_o200k_counts_as_the_models_do() -> None:
    assert O200K.encode("hello world") == [24912, 2375]
    assert O200K.count("hello world") == 2


def test_special_tokens_in_a_text_are_text() -> None:
    assert O200K.count("<|endoftext|>") > 1


def test_half_a_character_decodes_to_a_replacement() -> None:
    first, *_ = O200K.encode("🧬")
    assert O200K.decode([first]) == "\ufffd"


@pytest.mark.parametrize("text", [" " * 600_000, "^" * 300_000, "\ud800" * 10], ids=["blanks", "carets", "surrogates"])
def test_no_text_is_too_odd_to_be_counted(text: str) -> None:
    assert O200K.count(text) > 0


@settings(max_examples=50)
@given(st.text(st.characters(codec="utf-8")))
def test_decoding_inverts_encoding(text: str) -> None:
    assert O200K.decode(O200K.encode(text)) == text


@pytest.mark.long
@pytest.mark.parametrize("before", [None, "/somewhere/else"])
def test_loading_is_done_once_and_leaves_the_environment(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    if before:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
    tokenizer._read_encoding.cache_clear()
    loaded = load_encoding(find_vocabulary_dir())
    assert (loaded.name, os.environ.get("TIKTOKEN_CACHE_DIR")) == ("o200k_base", before)
    assert load_encoding(find_vocabulary_dir()) is loaded


def test_a_missing_vocabulary_is_reported_and_not_downloaded(tmp_path: Path) -> None:
    for folder in (tmp_path, None):
        with pytest.raises(EngineError, match="o200k_base") as caught:
            load_encoding(folder)
        assert "litellm" in caught.value.hint


FIRST_TEXTS = """
import sys
from engine.text.tokenizer import _FIRST, O200kTokenizer
counted = [O200kTokenizer().count(text) for text in ("hello world", "The ferry leaves at noon. " * 60)]
assert "tiktoken" not in sys.modules
O200kTokenizer().count(" a b" * _FIRST)
assert "tiktoken" in sys.modules
assert counted == [len(O200kTokenizer().encode(text)) for text in ("hello world", "The ferry leaves at noon. " * 60)]
"""


LOADED_BESIDE = """
import sys, threading
from engine.text.tokenizer import _NEARLY_ALL, O200kTokenizer, _first_texts
text = "The ferry leaves at noon. " * 100
for _ in range(_NEARLY_ALL // len(text)):
    O200kTokenizer().count(text)
assert _first_texts._loader is None
counted = [O200kTokenizer().count(text) for _ in range(2)]
_first_texts._loader.join()
assert "tiktoken" in sys.modules
assert counted == [len(O200kTokenizer().encode(text))] * 2
"""


def test_tiktoken_is_loaded_beside_what_the_process_does() -> None:
    subprocess.run([sys.executable, "-c", LOADED_BESIDE], check=True, cwd=Path(__file__).parents[3])


def test_the_first_texts_of_a_process_are_counted_without_tiktoken() -> None:
    subprocess.run([sys.executable, "-c", FIRST_TEXTS], check=True, cwd=Path(__file__).parents[3])
