"""Plan how many descriptions of one key become one: join them, or summarize them, and in which calls. Pure.

Few short descriptions are joined. More are summarized: in one call if they fit, else group by group and then the
summaries again. Groups end by content (at a description whose hash is 0 modulo 8, at the latest the 24th), so that
another mention changes only one group and the summaries above it. Only the newest groups are described; older facts
still count, and are found through their chunks. A reindex summarizes nothing.
Limits as in LightRAG: 12,000 tokens per call; fewer than 8 descriptions with fewer than 1,200 tokens are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.knowledge.merge import description_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from engine.knowledge.merge import Fragment
    from engine.options import SummaryLimits

    Texts = tuple[str, ...]

SEPARATOR = "\n"


def select_newest(fragments: Sequence[Fragment], limits: SummaryLimits) -> Sequence[Fragment]:
    """The newest fragments to describe: whole groups, so that another mention does not move their boundaries."""
    if len(fragments) <= limits.group_size:
        return fragments
    tail = fragments[-limits.max_fragments :]
    if len(tail) < len(fragments):
        cut = next((i for i, row in enumerate(tail) if row.hash % limits.hash_modulo == 0), -1)
        tail = tail[cut + 1 :]
    sizes = [len(group) for group in group_fragments([row.hash for row in tail], [0] * len(tail), limits)]
    return tail[-sum(sizes[-limits.max_groups :]) :]


def group_fragments(hashes: Sequence[int], tokens: Sequence[int], limits: SummaryLimits) -> list[range]:
    """Stable groups of consecutive fragments: one ends by content, at its maximum size, or when a call is full."""
    groups, start, held = [], 0, 0
    for i, (value, size) in enumerate(zip(hashes, tokens, strict=True)):
        if i > start and held + size > limits.call_tokens:
            groups.append(range(start, i))
            start, held = i, 0
        held += size
        if value % limits.hash_modulo == 0 or i - start + 1 == limits.group_size:
            groups.append(range(start, i + 1))
            start, held = i + 1, 0
    return groups + ([range(start, len(hashes))] if start < len(hashes) else [])


def needs_model(texts: Sequence[str], count: Callable[[str], int], limits: SummaryLimits) -> bool:
    """Whether the texts exceed the limits of joining."""
    if len(texts) < 2 or len(texts) >= limits.join_fragments:
        return len(texts) >= 2
    return _exceeds_tokens(texts, count, limits.join_tokens - 1)


def join_newest(fragments: Sequence[Fragment], count: Callable[[str], int], limits: SummaryLimits) -> str:
    """Join the newest fragments within the limits; shown until a summary exists."""
    kept: list[str] = []
    held = 0
    for row in reversed(fragments):
        held += count(row.text)
        if kept and (held >= limits.join_tokens or len(kept) == limits.join_fragments - 1):
            break
        kept.append(row.text)
    return SEPARATOR.join(reversed(kept))


def summary_steps(
    fragments: Sequence[Fragment], count: Callable[[str], int], limits: SummaryLimits
) -> Generator[list[Texts], Sequence[str], str]:
    """Reduce fragments to one text: yields inputs to summarize concurrently, and is sent their summaries."""
    texts, hashes = [row.text for row in fragments], [row.hash for row in fragments]
    while needs_model(texts, count, limits):
        if len(texts) == 2 or not _exceeds_tokens(texts, count, limits.call_tokens):
            [text] = yield [tuple(texts)]
            return text
        groups = group_fragments(hashes, [count(text) for text in texts], limits)
        if len(groups) == len(texts):  # no group has two texts: summarize pairs
            groups = [range(i, min(i + 2, len(texts))) for i in range(0, len(texts), 2)]
        inputs = [tuple(texts[i] for i in group) for group in groups]
        summaries = iter((yield [input_ for input_ in inputs if len(input_) > 1]))
        texts = _newest_fitting([next(summaries) if len(input_) > 1 else input_[0] for input_ in inputs], count, limits)
        hashes = [description_hash(text) for text in texts]
    return SEPARATOR.join(texts)


def _newest_fitting(texts: list[str], count: Callable[[str], int], limits: SummaryLimits) -> list[str]:
    """The newest summaries that fit into one call, at least two; groups of summaries would not be stable."""
    held = kept = 0
    for text in reversed(texts[-limits.group_size :]):
        held += count(text)
        if kept >= 2 and held > limits.call_tokens:
            break
        kept += 1
    return texts[len(texts) - kept :]


def _exceeds_tokens(texts: Sequence[str], count: Callable[[str], int], tokens: int) -> bool:
    """Whether the texts have more tokens; counts only if they have more bytes than that."""
    return sum(len(text.encode()) for text in texts) > tokens and sum(map(count, texts)) > tokens
