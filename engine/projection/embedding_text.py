"""What is embedded: the texts of entities, relations and chunks, and how a long chunk is given in parts."""

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
    from engine.storage.ledger.profiles import Profile
    from engine.text.windows import Tokenizer
    from engine.usage import UsageMeter

PART_OVERLAP = 16
MAX_TEXTS_PER_CALL = 512  # texts of a call; where one of them fails, no more than these are embedded again

Vector: TypeAlias = np.ndarray


def text_hash(embedder: str, text: str) -> bytes:
    """What tells whether a vector is still the one of a text."""
    return blake2b(f"{embedder}\0{text}".encode(), digest_size=16).digest()


def truncate_to_tokens(text: str, tokens: int, tokenizer: Tokenizer) -> str:
    """The text, or as many first tokens of it as are taken whole."""
    if len(text.encode()) <= tokens:  # a token is a byte at least
        return text
    return tokenizer.decode(tokenizer.encode(text)[:tokens]).rstrip("\ufffd")


def entity_text(row: Profile) -> str:
    """What the vector of an entity is made of."""
    return f"{row.label}{SEPARATOR}{row.description}"


def relation_text(row: Profile, names: Mapping[int, str]) -> str:
    """What the vector of a relation is made of."""
    ends = sorted(names.get(end, "") for end in row.ends)
    return SEPARATOR.join((row.label, *ends, row.description))


async def embed_with_isolation(
    embedder: CheckedEmbedder, texts: Sequence[str], bill: UsageMeter
) -> list[Vector | EngineError]:
    """The vector of each text, or why that text alone cannot be embedded. Raises what keeps all from being embedded."""
    made: list[Vector | EngineError] = []
    for start in range(
        0, len(texts), MAX_TEXTS_PER_CALL
    ):  # one after another: a question would wait behind all of them
        made += await _embed_isolated(embedder, texts[start : start + MAX_TEXTS_PER_CALL], bill)
    return made


async def _embed_isolated(
    embedder: CheckedEmbedder, texts: Sequence[str], bill: UsageMeter
) -> list[Vector | EngineError]:
    try:
        return list(await embedder.embed(texts, bill))
    except EngineError as error:
        if not await embedder.is_text_at_fault(error, bill):
            raise
        if len(texts) == 1:
            return [error]
    half = len(texts) // 2
    return [*await _embed_isolated(embedder, texts[:half], bill), *await _embed_isolated(embedder, texts[half:], bill)]


def split_into_parts(text: str, tokens: int, tokenizer: Tokenizer) -> list[str]:
    """A chunk in parts that an embedder takes whole, slightly overlapping; one part if it fits.

    All parts are about equally long: of a short rest at the end, hardly anything but one phrase, the vector would be
    like too many questions.
    """
    if len(text.encode()) <= tokens:
        return [text]
    overlap = min(PART_OVERLAP, tokens // 2)
    count = ceil(max(1, tokenizer.count(text) - overlap) / max(1, tokens - overlap))
    even = ceil((tokenizer.count(text) + overlap * (count - 1)) / count)
    spans = token_windows(text, tokenizer, max(overlap + 1, min(tokens, even)), overlap)
    return [text[span.start : span.stop] for span in spans] or [truncate_to_tokens(text, tokens, tokenizer)]
