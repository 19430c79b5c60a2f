"""Texts that are embedded for entities, relations and chunks, and the splitting of long chunks."""

from __future__ import annotations

from hashlib import blake2b
from math import ceil
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from engine.errors import EngineError
from engine.knowledge.summary_plan import SEPARATOR
from engine.text.windows import token_windows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.storage.ledger.records import Profile
    from engine.text.windows import Tokenizer
    from engine.usage import UsageMeter

PART_OVERLAP = 16
MAX_TEXTS_PER_CALL = 512  # texts per call; if one of them fails, at most this many are embedded again

Vector: TypeAlias = np.ndarray


def text_hash(embedder: str, text: str) -> bytes:
    """Hash that shows whether a vector belongs to a text."""
    return blake2b(f"{embedder}\0{text}".encode(), digest_size=16).digest()


def truncate_to_tokens(text: str, tokens: int, tokenizer: Tokenizer) -> str:
    """The text, or its first tokens up to the limit."""
    if len(text.encode()) <= tokens:  # a token has at least one byte
        return text
    return tokenizer.decode(tokenizer.encode(text)[:tokens]).rstrip("\ufffd")


def entity_text(row: Profile) -> str:
    """The text that is embedded for an entity."""
    return f"{row.label}{SEPARATOR}{row.description}"


def relation_text(row: Profile, names: Mapping[int, str]) -> str:
    """The text that is embedded for a relation."""
    ends = sorted(names.get(end, "") for end in row.ends)
    return SEPARATOR.join((row.label, *ends, row.description))


async def embed_with_isolation(
    embedder: CheckedEmbedder, texts: Sequence[str], meter: UsageMeter
) -> list[Vector | EngineError]:
    """The vector of each text, or the error of that text alone. Raises errors that affect all texts."""
    vectors: list[Vector | EngineError] = []
    for start in range(
        0, len(texts), MAX_TEXTS_PER_CALL
    ):  # in turn: otherwise a question would wait behind all of them
        vectors += await _embed_isolated(embedder, texts[start : start + MAX_TEXTS_PER_CALL], meter)
    return vectors


async def _embed_isolated(
    embedder: CheckedEmbedder, texts: Sequence[str], meter: UsageMeter
) -> list[Vector | EngineError]:
    try:
        return list(await embedder.embed(texts, meter))
    except EngineError as error:
        if not await embedder.is_text_at_fault(error, meter):
            raise
        if len(texts) == 1:
            return [error]
    half = len(texts) // 2
    return [
        *await _embed_isolated(embedder, texts[:half], meter),
        *await _embed_isolated(embedder, texts[half:], meter),
    ]


def split_into_parts(text: str, tokens: int, tokenizer: Tokenizer) -> list[str]:
    """Split a chunk into slightly overlapping parts that the embedder takes whole; one part if it fits.

    All parts have about equal length: the vector of a short rest would be similar to too many questions.
    """
    if len(text.encode()) <= tokens:
        return [text]
    overlap = min(PART_OVERLAP, tokens // 2)
    count = ceil(max(1, tokenizer.count(text) - overlap) / max(1, tokens - overlap))
    even = ceil((tokenizer.count(text) + overlap * (count - 1)) / count)
    spans = token_windows(text, tokenizer, max(overlap + 1, min(tokens, even)), overlap)
    return [text[span.start : span.stop] for span in spans] or [truncate_to_tokens(text, tokens, tokenizer)]
