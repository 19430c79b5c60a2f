"""Count tokens offline with o200k_base."""

from __future__ import annotations

import functools
import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import tiktoken

    from engine.text.windows import Tokenizer

ENCODING = "o200k_base"

# The file name under which tiktoken caches o200k_base: a hash of its address.
_VOCABULARY_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
# Characters encoded at once. tiktoken overflows its stack, and crashes the process, on some 100,000 blanks in a row.
_BLOCK = 100_000
_SHORT = 1_000  # characters of a text whose count is kept: rows of the graph occur in question after question

_loading = threading.Lock()


class O200kTokenizer:
    """The o200k_base tokenizer of tiktoken, loaded at first use (0.5 s) from files that litellm includes."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; special tokens in it are encoded as ordinary text."""
        encode = _encoding().encode_ordinary
        if len(text) <= _BLOCK:
            return encode(text)
        return [token for at in range(0, len(text), _BLOCK) for token in encode(text[at : at + _BLOCK])]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; an incomplete character at either end becomes U+FFFD."""
        return _encoding().decode(tokens)

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return _count_short(text) if len(text) <= _SHORT else len(self.encode(text))


def count_fitting(items: Iterable[str], budget: int, tokenizer: Tokenizer, joiner: str = "\n") -> list[int]:
    """The tokens of each of the first items that fit into the budget when joined, with a joiner each."""
    joint = tokenizer.count(joiner)
    used, sizes = -joint, list[int]()
    for item in items:
        size = joint + tokenizer.count(item)
        used += size
        if used > budget:
            break
        sizes.append(size)
    return sizes


def load_encoding(folder: Path | None) -> tiktoken.Encoding:
    """Load the encoding from a folder, never from the network. Raises EngineError if its file is missing."""
    if folder is None or not (folder / _VOCABULARY_FILE).is_file():
        raise EngineError(
            f"The vocabulary {ENCODING} was not found{f' in {folder}' if folder else ''}.",
            hint="It is part of litellm: reinstall the dependencies from requirements.lock.",
        )
    with _loading:
        return _read_encoding(folder)


@functools.lru_cache(maxsize=16_384)
def _count_short(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


@functools.cache
def _read_encoding(folder: Path) -> tiktoken.Encoding:
    import tiktoken  # noqa: PLC0415  - slow to import, and not always needed
    from tiktoken_ext.openai_public import o200k_base  # noqa: PLC0415

    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(folder)
    try:
        vocabulary = o200k_base()
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before
    encoding = tiktoken.Encoding(**vocabulary)
    vocabulary["mergeable_ranks"].clear()  # frees 28 MiB; the encoding has its own copy
    return encoding


def find_vocabulary_dir() -> Path | None:
    """The folder of litellm's vocabularies, found without importing litellm (which takes seconds)."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "litellm_core_utils" / "tokenizers"


@functools.cache
def _encoding() -> tiktoken.Encoding:
    return load_encoding(find_vocabulary_dir())
