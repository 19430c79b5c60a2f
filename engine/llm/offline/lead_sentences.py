"""Merge several descriptions by their leading sentences. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llm.offline.text.sentences import split_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

# About 600 tokens of English.
MAX_CHARACTERS = 2400


def merge_lead_sentences(fragments: Sequence[str]) -> str:
    """The first sentences of all fragments, then the second ones, up to the limit, in the order of the fragments.

    Of sentences that differ only in case and whitespace the first is kept. The result has at least one sentence.
    """
    sentences = [split_sentences(fragment) for fragment in fragments]
    by_rank = sorted((rank, row) for row, texts in enumerate(sentences) for rank in range(len(texts)))
    kept: dict[str, tuple[int, int]] = {}
    length = 0
    for rank, row in by_rank:
        text = sentences[row][rank]
        if text.casefold() in kept:
            continue
        if kept and length + len(text) >= MAX_CHARACTERS:
            break
        kept[text.casefold()] = (row, rank)
        length += len(text) + 1
    return " ".join(sentences[row][rank] for row, rank in sorted(kept.values()))
