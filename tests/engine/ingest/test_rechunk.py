"""A cut around a change is the whole cut: whatever changed, wherever the stretch begins and ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.ingest.chunking import build_chunks
from engine.ingest.rechunk import rechunk_region
from engine.models import Passage
from engine.options import ChunkingOptions
from engine.storage.ledger.records.content import ChangedRegion, RechunkedRegion
from engine.text.tokenizer import O200kTokenizer
from tests.support.tokenizers import CharacterTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import Chunk

PACKING = ChunkingOptions(size=24, overlap=3, target_size=10, hash_modulo=3)
TEXTS = st.text(alphabet="abcd \n", max_size=14) | st.text(alphabet="abc ", min_size=20, max_size=70)


def passages(texts: Sequence[str]) -> list[Passage]:
    return [Passage(f"p{n}", text, position=n) for n, text in enumerate(texts)]


def edited(old: Sequence[Passage], edits: Sequence[tuple[int, str, str]]) -> tuple[list[Passage], range]:
    """The passages after some edits, and the range of places within which anything changed."""
    new = list(old)
    for number, (place, kind, text) in enumerate(edits):
        at = place % (len(new) + 1)
        if kind == "insert":
            new.insert(at, Passage(f"new{number}", text))
        elif at < len(new):
            new[at : at + 1] = [] if kind == "drop" else [replace(new[at], text=text)]
    first = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return new, range(first, len(new) - last)


def stretch(
    old: Sequence[Chunk], new: Sequence[Passage], before: Sequence[Passage], changed: range, around: tuple[int, int]
) -> tuple[ChangedRegion, int]:
    """So many old chunks before and after the change, and the number of those left out before."""
    last = len(before) - (len(new) - changed.stop)  # the old passages in the changed range end before this place
    places = {passage.key: place for place, passage in enumerate(before)}
    touched = [
        n
        for n, chunk in enumerate(old)
        if places[chunk.pieces[-1].passage] >= changed.start - 1 and places[chunk.pieces[0].passage] <= last
    ]
    low = max(0, min(touched, default=0) - around[0])
    high = min(len(old), max(touched, default=-1) + 1 + around[1])
    start = 0 if low == 0 else places[old[low].pieces[0].passage]
    stop = len(before) if high >= len(old) else places[old[high - 1].pieces[-1].passage] + 1
    if low and old[low].pieces[0].start > 0:
        low = start = 0  # the ledger's stretches begin with a whole passage
    shift = len(new) - len(before)
    own = range(changed.start - start, changed.stop - start)
    return ChangedRegion(
        old[low:high], new[start : stop + shift], own, is_first=low == 0, is_last=high >= len(old)
    ), low


def check(
    old: Sequence[Passage], edits: Sequence[tuple[int, str, str]], around: tuple[int, int], tokenizer: Any
) -> bool:
    new, changed = edited(old, edits)
    cut = build_chunks(old, tokenizer, PACKING)
    part, skipped = stretch(cut, new, old, changed, around)
    made = rechunk_region(part, tokenizer, PACKING)
    if made is not None:
        whole = [*cut[:skipped], *made.chunks, *cut[skipped + made.replaced_count :]]
        assert whole == build_chunks(new, tokenizer, PACKING)
    return made is not None


EDITS = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["insert", "drop", "change"]), TEXTS), max_size=3)


@given(st.lists(TEXTS, max_size=40), EDITS, st.tuples(st.integers(0, 6), st.integers(0, 6)))
@settings(max_examples=150, deadline=None)
def test_a_cut_around_a_change_equals_a_whole_cut(
    texts: list[str], edits: list[tuple[int, str, str]], around: tuple[int, int]
) -> None:
    check(passages(texts), edits, around, CharacterTokenizer())


@given(st.lists(TEXTS, max_size=40), EDITS)
@settings(max_examples=50, deadline=None)
def test_a_stretch_that_is_the_whole_document_is_always_enough(
    texts: list[str], edits: list[tuple[int, str, str]]
) -> None:
    assert check(passages(texts), edits, (99, 99), CharacterTokenizer())


class Merging(CharacterTokenizer):
    """Counts a joined text as more than its parts, as real tokenizers may."""

    def count(self, text: str) -> int:
        return len(text) + 2 * text.count("a\nb")


@given(st.lists(TEXTS, max_size=40), EDITS, st.tuples(st.integers(0, 6), st.integers(0, 6)))
@settings(max_examples=80, deadline=None)
def test_so_it_is_where_joined_texts_have_more_tokens_than_their_parts(
    texts: list[str], edits: list[tuple[int, str, str]], around: tuple[int, int]
) -> None:
    check(passages(texts), edits, around, Merging())


def test_few_chunks_around_a_change_of_a_long_thread_are_enough() -> None:
    """Most changes need no wider stretch."""
    old = passages([f"{'abcd'[n % 4] * (n % 7 + 2)} {n}" for n in range(300)])
    enough = [check(old, [(place, "change", "zz")], (3, 4), CharacterTokenizer()) for place in range(0, 300, 5)]
    assert sum(enough) >= 0.8 * len(enough)


@pytest.mark.parametrize("place", [0, 150, 299])
def test_real_tokens_too(place: int) -> None:
    packing = ChunkingOptions()
    old = passages([f"[2026-05-04 06:{n % 60:02}] Ada: message {n} about the ferry and its fare." for n in range(300)])
    new, changed = edited(old, [(place, "change", "Something else was said here.")])
    cut = build_chunks(old, O200kTokenizer(), packing)
    part, skipped = stretch(cut, new, old, changed, (3, 4))
    made = rechunk_region(part, O200kTokenizer(), packing)
    assert isinstance(made, RechunkedRegion)
    assert [*cut[:skipped], *made.chunks, *cut[skipped + made.replaced_count :]] == build_chunks(
        new, O200kTokenizer(), packing
    )
