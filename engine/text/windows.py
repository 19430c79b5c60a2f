"""Split a text into windows of tokens with exact character positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_WINDOW_TOKENS = 1200
DEFAULT_OVERLAP_TOKENS = 100

# Characters per token of o200k_base: at least, on average and at most in most texts.
MIN_CHARACTERS_PER_TOKEN, MEAN_CHARACTERS_PER_TOKEN, MAX_CHARACTERS_PER_TOKEN = 3, 4, 8


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
