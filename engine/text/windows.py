"""A text cut into windows by tokens, with exact places in its characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_WINDOW_TOKENS = 1200
DEFAULT_OVERLAP_TOKENS = 100

# Characters per token of o200k_base: at least, on average and at most in most texts.
MIN_CHARACTERS_PER_TOKEN, MEAN_CHARACTERS_PER_TOKEN, MAX_CHARACTERS_PER_TOKEN = 3, 4, 8


class Tokenizer(Protocol):
    """Counts and cuts text as a model does. `decode` inverts `encode`; half a character at an end decodes to U+FFFD."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...

    def count(self, text: str) -> int: ...


class TokenSpan(NamedTuple):
    """The characters `start:stop` of a text, and how many tokens they are."""

    start: int
    stop: int
    tokens: int


def token_windows(
    text: str, tokenizer: Tokenizer, size: int = DEFAULT_WINDOW_TOKENS, overlap: int = DEFAULT_OVERLAP_TOKENS
) -> list[TokenSpan]:
    """Windows of at most `size` tokens which share `overlap`, stripped of blanks; none lies within another one.

    Cut between whole characters, wherever the tokens end. Raises ValueError if not 0 <= overlap < size.
    """
    check_window(size, overlap)
    start, end = strip_span(text, 0, len(text))
    spans: list[TokenSpan] = []
    while start < end:
        window, following = _next_window(text, start, end, tokenizer, (size, overlap))
        # Without the blanks at its ends, a window may lie within either neighbour.
        while spans and window.start <= spans[-1].start and window.stop > window.start:
            spans.pop()
        if window.stop > max(window.start, spans[-1].stop if spans else 0):
            spans.append(window)
        start = following
    return spans


def split_by_tokens(text: str, tokenizer: Tokenizer, limit: int) -> list[str]:
    """The text in parts of at most `limit` tokens, without overlap; none if the limit is not positive."""
    return [text[span.start : span.stop] for span in token_windows(text, tokenizer, limit, 0)] if limit > 0 else []


def strip_span(text: str, start: int, stop: int) -> tuple[int, int]:
    """Where `start:stop` of the text begins and ends without its outer blanks; of blanks alone the end comes first."""
    piece = text[start:stop]
    return stop - len(piece.lstrip()), start + len(piece.rstrip())


def check_window(size: int, overlap: int) -> None:
    """Raises ValueError, naming both, if they do not go together."""
    if not 0 <= overlap < size:
        raise ValueError(f"an overlap of {overlap} tokens does not go with a size of {size}: 0 <= overlap < size")


def _next_window(
    text: str, start: int, end: int, tokenizer: Tokenizer, limits: tuple[int, int]
) -> tuple[TokenSpan, int]:
    """The window that starts here, and where the next one starts (`end` if this is the last)."""
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
    """The text ahead and its tokens: more than `size` of them, or all there are."""
    length = size * MAX_CHARACTERS_PER_TOKEN  # so that one call mostly suffices without encoding far beyond the window
    while True:
        ahead = text[start : min(start + length, end)]
        tokens = tokenizer.encode(ahead)
        if len(tokens) > size or start + length >= end:
            return ahead, tokens
        length *= 2


def _count_whole_characters(text: str, tokens: Sequence[int], tokenizer: Tokenizer) -> int:
    """How many whole characters of the text its first tokens are; a character of which they are a part counts not."""
    head = tokenizer.decode(tokens)
    return len(head) if text.startswith(head) else len(head) - 1


def _count_span(text: str, start: int, stop: int, tokenizer: Tokenizer, *, known: int) -> TokenSpan:
    """The span without the blanks at its ends; `known` is its count with them, if that is known."""
    inner = strip_span(text, start, stop)
    return TokenSpan(*inner, known if known and inner == (start, stop) else tokenizer.count(text[slice(*inner)]))
