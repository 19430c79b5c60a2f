"""Count tokens offline with o200k_base, and split a text into windows of them."""

from __future__ import annotations

import functools
import importlib.util
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from engine.errors import EngineError
from engine.text.few_tokens import FewTokens, is_common

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import tiktoken


ENCODING = "o200k_base"

# The file name under which tiktoken caches o200k_base: a hash of its address.
_VOCABULARY_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
# Characters encoded at once. tiktoken overflows its stack, and crashes the process, on some 100,000 blanks in a row.
_BLOCK = 100_000
# Characters that a process counts before it loads tiktoken, which is faster for longer texts but takes 0.5 s to load.
_FIRST = 1_000_000
_NEARLY_ALL = 500_000  # of these; then it is loaded beside what the process does
_SHORT = 1_000  # characters of a text whose count is kept: rows of the graph occur in question after question

_loading = threading.Lock()
DEFAULT_WINDOW_TOKENS = 1200
DEFAULT_OVERLAP_TOKENS = 100

# Characters per token of o200k_base: at least, on average and at most in most texts.
MIN_CHARACTERS_PER_TOKEN, MEAN_CHARACTERS_PER_TOKEN, MAX_CHARACTERS_PER_TOKEN = 3, 4, 8


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
        if len(text) <= _SHORT:
            return _count_short(text)
        counted = _first_texts.count(text)
        return len(self.encode(text)) if counted is None else counted


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
    file = _find_vocabulary(folder)
    with _loading:
        return _read_encoding(file.parent)


def _find_vocabulary(folder: Path | None) -> Path:
    if folder is None or not (folder / _VOCABULARY_FILE).is_file():
        raise EngineError(
            f"The vocabulary {ENCODING} was not found{f' in {folder}' if folder else ''}.",
            hint="It is part of litellm: reinstall the dependencies from requirements.lock.",
        )
    return folder / _VOCABULARY_FILE


class _FirstTexts:
    """Counts the first texts of a process without tiktoken."""

    def __init__(self) -> None:
        self._left = _FIRST
        self._counter: FewTokens | None = None
        self._loader: threading.Thread | None = None

    def count(self, text: str) -> int | None:
        """The tokens of a text; None if tiktoken is loaded, or is to count it."""
        if self._left < len(text) or _encoding.cache_info().currsize:
            self._left, self._counter = 0, None
            return None
        if not is_common(text):
            return None
        self._left -= len(text)
        if self._left < _FIRST - _NEARLY_ALL and self._loader is None:
            self._loader = threading.Thread(target=_load_quietly, name="tokens", daemon=True)
            self._loader.start()
        counter = self._counter = self._counter or _open_counter()
        return counter.count(text)


def _load_quietly() -> None:
    with suppress(EngineError):  # whoever needs the tokens is told
        _encoding()


_first_texts = _FirstTexts()


def _open_counter() -> FewTokens:
    return FewTokens(_find_vocabulary(find_vocabulary_dir()).read_bytes())


@functools.lru_cache(maxsize=16_384)
def _count_short(text: str) -> int:
    counted = _first_texts.count(text)
    return len(_encoding().encode_ordinary(text)) if counted is None else counted


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


class Tokenizer(Protocol):
    """Splits text into tokens. `decode` inverts `encode`; an incomplete character at either end becomes U+FFFD."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...

    def count(self, text: str) -> int: ...


class TokenSpan(NamedTuple):
    """The characters `start:stop` of a text, and their number of tokens."""

    start: int
    stop: int
    tokens: int


def token_windows(
    text: str, tokenizer: Tokenizer, size: int = DEFAULT_WINDOW_TOKENS, overlap: int = DEFAULT_OVERLAP_TOKENS
) -> list[TokenSpan]:
    """Windows of at most `size` tokens that overlap by `overlap`, without outer blanks; none is part of another.

    Windows never split a character. Raises ValueError unless 0 <= overlap < size.
    """
    check_window(size, overlap)
    start, end = strip_span(text, 0, len(text))
    spans: list[TokenSpan] = []
    while start < end:
        window, following = _next_window(text, start, end, tokenizer, (size, overlap))
        # Without its outer blanks, a window may be part of one of its neighbors.
        while spans and window.start <= spans[-1].start and window.stop > window.start:
            spans.pop()
        if window.stop > max(window.start, spans[-1].stop if spans else 0):
            spans.append(window)
        start = following
    return spans


def strip_span(text: str, start: int, stop: int) -> tuple[int, int]:
    """The bounds of `start:stop` without outer blanks; for blanks only, the start exceeds the stop."""
    piece = text[start:stop]
    return stop - len(piece.lstrip()), start + len(piece.rstrip())


def check_window(size: int, overlap: int) -> None:
    """Raise ValueError unless 0 <= overlap < size."""
    if not 0 <= overlap < size:
        raise ValueError(
            f"an overlap of {overlap} tokens is invalid for a size of {size}: 0 <= overlap < size is required"
        )


def _next_window(
    text: str, start: int, end: int, tokenizer: Tokenizer, limits: tuple[int, int]
) -> tuple[TokenSpan, int]:
    """The window that starts at `start`, and the start of the next one (`end` if this is the last)."""
    size, overlap = limits
    ahead, tokens = _encode_ahead(text, start, end, tokenizer, size)
    keep = min(size, len(tokens))
    while True:
        length = len(ahead) if keep == len(tokens) else max(1, _count_whole_characters(ahead, tokens[:keep], tokenizer))
        span = _count_span(text, start, start + length, tokenizer, known=len(tokens) if keep == len(tokens) else 0)
        if span.tokens <= size or length == 1:
            break
        keep = max(1, keep - (span.tokens - size))
    if start + length >= end:
        return span, end
    back = _count_whole_characters(ahead, tokens[: max(1, keep - overlap)], tokenizer) if overlap else length
    return span, start + min(max(1, back), length)


def _encode_ahead(text: str, start: int, end: int, tokenizer: Tokenizer, size: int) -> tuple[str, list[int]]:
    """The text from `start` on and its tokens: more than `size`, or all that remain."""
    length = size * MAX_CHARACTERS_PER_TOKEN  # so that one call mostly suffices without encoding far beyond the window
    while True:
        ahead = text[start : min(start + length, end)]
        tokens = tokenizer.encode(ahead)
        if len(tokens) > size or start + length >= end:
            return ahead, tokens
        length *= 2


def _count_whole_characters(text: str, tokens: Sequence[int], tokenizer: Tokenizer) -> int:
    """The number of whole characters that the first tokens of a text encode."""
    head = tokenizer.decode(tokens)
    return len(head) if text.startswith(head) else len(head) - 1


def _count_span(text: str, start: int, stop: int, tokenizer: Tokenizer, *, known: int) -> TokenSpan:
    """The span without outer blanks; `known` is its number of tokens with them, or 0 if not counted."""
    inner = strip_span(text, start, stop)
    return TokenSpan(*inner, known if known and inner == (start, stop) else tokenizer.count(text[slice(*inner)]))
