"""Token counting without a network, and "as many as fit"."""

from __future__ import annotations

import functools
import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import tiktoken

    from engine.text.windows import Tokenizer

ENCODING = "o200k_base"

# tiktoken looks for an encoding under a hash of its address; this one is o200k_base.
_VOCABULARY_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
# tiktoken's matcher overflows its stack on some hundred thousand blanks in a row and panics past all handlers.
_BLOCK = 100_000

_loading = threading.Lock()


class O200kTokenizer:
    """The tokenizer o200k_base of tiktoken, read from the files which litellm carries, at first use (0.5 s)."""

    def encode(self, text: str) -> list[int]:
        """The tokens; markup of special tokens in the text is text like any other."""
        encode = _encoding().encode_ordinary
        if len(text) <= _BLOCK:
            return encode(text)
        return [token for at in range(0, len(text), _BLOCK) for token in encode(text[at : at + _BLOCK])]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text; half a character at an end becomes U+FFFD."""
        return _encoding().decode(tokens)

    def count(self, text: str) -> int:
        """The number of tokens."""
        return len(self.encode(text))


def count_that_fit(items: Sequence[str], budget: int, tokenizer: Tokenizer, joiner: str = "\n") -> int:
    """How many items, from the first on, fit into the budget (tokens) when they are joined; each is counted once."""
    joint = tokenizer.count(joiner)
    used = -joint
    for number, item in enumerate(items):
        used += joint + tokenizer.count(item)
        if used > budget:
            return number
    return len(items)


def load_encoding(folder: Path | None) -> tiktoken.Encoding:
    """The encoding, from the folder and nowhere else. Raises EngineError if its file is not there."""
    if folder is None or not (folder / _VOCABULARY_FILE).is_file():
        raise EngineError(
            f"The vocabulary {ENCODING} was not found{f' in {folder}' if folder else ''}.",
            hint="It comes with litellm: install the dependencies again, as requirements.lock names them.",
        )
    with _loading:
        return _read_encoding(folder)


@functools.cache
def _read_encoding(folder: Path) -> tiktoken.Encoding:
    import tiktoken  # noqa: PLC0415  - a start that counts nothing should not pay for it
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
    vocabulary["mergeable_ranks"].clear()  # 28 MiB; the encoding cuts words by a copy of its own
    return encoding


def find_vocabulary_dir() -> Path | None:
    """Where litellm keeps its vocabularies, found without importing it (which takes seconds)."""
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "litellm_core_utils" / "tokenizers"


@functools.cache
def _encoding() -> tiktoken.Encoding:
    return load_encoding(find_vocabulary_dir())
