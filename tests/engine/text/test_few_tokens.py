from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import few_tokens
from engine.text.few_tokens import FewTokens, is_common
from engine.text.tokenizer import _VOCABULARY_FILE, O200kTokenizer, find_vocabulary_dir, load_encoding

ROOT = Path(__file__).parents[3]
COMMON = [char for first, last in few_tokens._RANGES for char in map(chr, range(first, last + 1))]
WORDS = st.sampled_from(
    [
        "Gudgeon",
        " noon",
        "'s",
        "'LL",
        "ſ",
        "’d",
        "9",
        "1234",
        " ",
        "\n",
        "\r\n",
        "\u00a0",
        "/",
        "ß",
        "Ǆ",
        ".",
        "🧬",
        "👍🏽",
        "♥\ufe0f",
        "шхуна",
        " Шхуна",
        "a\u0301",
    ]
)
TEXTS = st.lists(WORDS | st.text(st.sampled_from(COMMON), max_size=4), max_size=12).map("".join)


@cache
def few() -> FewTokens:
    folder = find_vocabulary_dir()
    assert folder
    return FewTokens((folder / _VOCABULARY_FILE).read_bytes())


def count(text: str) -> int | None:
    return few().count(text) if is_common(text) else None


def exact(text: str) -> int:
    return len(load_encoding(find_vocabulary_dir()).encode_ordinary(text))


@given(TEXTS)
def test_a_common_text_has_as_many_tokens_as_tiktoken_says(text: str) -> None:
    assert count(text) in {exact(text), None}


@pytest.mark.parametrize("path", ["README.md", "docs/how-to.md", "engine/text/few_tokens.py", "CONTRIBUTING.md"])
def test_real_texts_are_counted(path: str) -> None:
    for line in (ROOT / path).read_text(encoding="utf-8").split("\n\n"):
        assert count(line) in {exact(line), None}
    counted = [count(line) for line in (ROOT / path).read_text(encoding="utf-8").split("\n")]
    assert sum(count is None for count in counted) < 0.1 * len(counted)


@pytest.mark.parametrize("text", ["船", "\u05e9", "\x1c", "^" * 300])
def test_other_texts_are_left_to_tiktoken(text: str) -> None:
    assert count(text) is None
    assert O200kTokenizer().count(text) == exact(text)
