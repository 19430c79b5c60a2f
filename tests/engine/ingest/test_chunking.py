"""Splitting at separators (K1: C1 to C3) and packing."""

from __future__ import annotations

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidDocument
from engine.ingest.chunking import ChunkTooLong, build_chunks
from engine.models import Chunk, ChunkPiece, Passage
from engine.options import ChunkingOptions
from engine.text.tokenizer import O200kTokenizer, Tokenizer
from tests.support.tokenizers import ByteTokenizer, CharacterTokenizer, UnevenTokenizer

LETTERS = "0123456789abcdefghijklmno"
SMALL = ChunkingOptions(size=40, overlap=6, target_size=15, hash_modulo=3)
TOKENIZERS: list[Tokenizer] = [CharacterTokenizer(), ByteTokenizer(), UnevenTokenizer(), O200kTokenizer()]


class ClingingTokenizer(CharacterTokenizer):
    """Counts a joined text as more than its parts."""

    def count(self, text: str) -> int:
        return len(text) + 3 * text.count("!\n")


def passages(*texts: str) -> list[Passage]:
    return [Passage(str(number), text) for number, text in enumerate(texts)]


def build(*texts: str, packing: ChunkingOptions = SMALL) -> list[Chunk]:
    return build_chunks(passages(*texts), CharacterTokenizer(), packing)


def split(text: str, separator: str, size: int, *, only: bool = True) -> list[str]:
    packing = ChunkingOptions(size=size, overlap=3, target_size=size, separator=separator, separator_only=only)
    return [chunk.text for chunk in build(text, packing=packing)]


def test_k1_c1_c3_a_text_is_split_at_the_separator_and_the_limit_itself_is_not_too_long() -> None:
    assert split("alpha\n\nbeta", "\n\n", 10) == ["alpha", "beta"]
    assert split("a" * 10, "\n", 10) == ["a" * 10]
    assert split(f"ab\n{LETTERS[:12]}\n\ncd", "\n", 10, only=False) == ["ab", "0123456789", "789ab", "cd"]


@pytest.mark.parametrize(("length", "limit"), [(12, 5), (11, 10)])
def test_k1_c2_a_piece_that_is_too_long_is_an_error_with_a_preview(length: int, limit: int) -> None:
    with pytest.raises(ChunkTooLong) as caught:
        split("a" * length, "\n\n", limit)
    assert (caught.value.tokens, caught.value.limit, caught.value.preview) == (length, limit, "a" * length)
    assert isinstance(caught.value, InvalidDocument)
    assert caught.value.hint


def ends_chunk(text: str) -> bool:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % 3 == 0


LAST, OTHER = (next(f"text {n}" for n in range(99) if ends_chunk(f"text {n}") is ends) for ends in (True, False))
WINDOWS = ChunkingOptions(size=10, overlap=3, target_size=10)
WHOLE = ChunkingOptions(size=10, overlap=0, target_size=10, hash_modulo=10**18)
SEPARATED = ChunkingOptions(size=20, overlap=3, target_size=10, separator="--")


@pytest.mark.parametrize(
    ("packing", "texts", "chunks"),
    [
        pytest.param(SMALL, ["one", "", " two ", "  ", "three"], ["one\ntwo\nthree"], id="short ones line by line"),
        pytest.param(
            WINDOWS,
            ["before", LETTERS, "after"],
            ["before", "0123456789", "789abcdefg", "efghijklmn", "lmno", "after"],
            id="a long passage in windows",
        ),
        pytest.param(WHOLE, ["aaaa", "bbbbb", "c"], ["aaaa\nbbbbb", "c"], id="up to the size"),
        pytest.param(
            SMALL,
            [LAST, OTHER, OTHER, LAST, OTHER],
            [f"{LAST}\n{OTHER}\n{OTHER}\n{LAST}", OTHER],
            id="content ends a chunk past the soft limit",
        ),
        pytest.param(
            SEPARATED, ["alpha -- beta", "gamma", "--delta--"], ["alpha", "beta\ngamma", "delta"], id="separators"
        ),
        pytest.param(SMALL, ["", " \n"], [], id="blank passages"),
        pytest.param(SMALL, [], [], id="no passages"),
    ],
)
def test_packing(packing: ChunkingOptions, texts: list[str], chunks: list[str]) -> None:
    assert [chunk.text for chunk in build(*texts, packing=packing)] == chunks


@pytest.mark.parametrize(
    ("packing", "texts", "at", "pieces"),
    [
        (SMALL, ["one", "", " two ", "  ", "three"], 0, [("0", 0, 3), ("2", 1, 4), ("4", 0, 5)]),
        (WINDOWS, ["before", LETTERS, "after"], 2, [("1", 7, 17)]),
        (SEPARATED, ["alpha -- beta", "gamma", "--delta--"], 1, [("0", 9, 13), ("1", 0, 5)]),
    ],
)
def test_a_chunk_says_where_its_pieces_are(
    packing: ChunkingOptions, texts: list[str], at: int, pieces: list[tuple[str, int, int]]
) -> None:
    assert build(*texts, packing=packing)[at].pieces == tuple(ChunkPiece(*piece) for piece in pieces)


def test_a_modulo_below_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="modulo"):
        ChunkingOptions(hash_modulo=0)


def test_the_limit_holds_where_joined_text_counts_more_than_its_parts() -> None:
    packing, tokenizer = ChunkingOptions(size=20, overlap=0, target_size=20), ClingingTokenizer()
    chunks = build_chunks(passages("aaaa!", "bbbb!", "cccc!", "dddd!"), tokenizer, packing)
    assert all(chunk.tokens == tokenizer.count(chunk.text) <= 20 for chunk in chunks)
    assert "\n".join(chunk.text for chunk in chunks) == "aaaa!\nbbbb!\ncccc!\ndddd!"


TEXT = st.text(st.sampled_from("abC. \n中😀"), max_size=60)


@pytest.mark.share(2)
@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda tokenizer: type(tokenizer).__name__)
@settings(max_examples=40)
@given(st.lists(TEXT, max_size=12), st.sampled_from(["", "\n", "C"]))
def test_every_word_is_in_a_piece_and_no_chunk_is_too_long(
    tokenizer: Tokenizer, texts: list[str], separator: str
) -> None:
    packing = ChunkingOptions(size=40, overlap=6, target_size=15, hash_modulo=3, separator=separator)
    held: set[tuple[str, int]] = set()
    for chunk in build_chunks(passages(*texts), tokenizer, packing):
        parts = [texts[int(piece.passage)][piece.start : piece.stop] for piece in chunk.pieces]
        assert all(parts)
        assert chunk.text == "\n".join(parts)
        assert chunk.tokens == tokenizer.count(chunk.text) <= packing.size
        held |= {(piece.passage, index) for piece in chunk.pieces for index in range(piece.start, piece.stop)}
    words = {
        (str(number), index)
        for number, text in enumerate(texts)
        for index, character in enumerate(text)
        if not character.isspace() and character != separator
    }
    assert words <= held


@pytest.mark.long
@settings(max_examples=80)
@given(st.lists(st.text("abc d", max_size=60), min_size=2, max_size=40), st.data())
def test_an_edit_recuts_only_up_to_the_next_cut_that_both_share(texts: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(texts) - 1))
    before = passages(*texts)
    replacement = data.draw(st.one_of(st.none(), st.text("abc d", max_size=90)))
    edited = [] if replacement is None else [Passage(before[at].key, replacement)]
    old = build_chunks(before, CharacterTokenizer(), SMALL)
    new = build_chunks([*before[:at], *edited, *before[at + 1 :]], CharacterTokenizer(), SMALL)
    # What does not fit ends two chunks at most: one where its parts are best cut, and what was left of them.
    untouched = [chunk for chunk in old if int(chunk.pieces[-1].passage) < at][:-2]
    assert new[: len(untouched)] == untouched
    starts = {chunk.pieces[0]: number for number, chunk in enumerate(old) if int(chunk.pieces[0].passage) > at}
    shared = next((number for number, chunk in enumerate(new) if chunk.pieces[0] in starts), None)
    assert shared is None or new[shared:] == old[starts[new[shared].pieces[0]] :]


def long_thread(seed: int, length: int = 400) -> list[Passage]:
    """Messages of 20 words each."""
    draw = random.Random(seed)
    words = [f"{draw.choice('bcdfglmnprst')}{draw.choice('aeiou')}{draw.choice('lmnrst')}{n % 7}" for n in range(500)]
    return passages(*(f"[2026-11-20 10:03] Ada: {' '.join(draw.choices(words, k=20))}" for _ in range(length)))


@pytest.mark.long
def test_deleting_a_message_of_a_long_thread_makes_at_most_two_new_chunks_on_average() -> None:
    messages, tokenizer, packing = long_thread(1, 200), O200kTokenizer(), ChunkingOptions()
    old = {chunk.text for chunk in build_chunks(messages, tokenizer, packing)}
    fresh = []
    for at in range(0, len(messages), 8):
        left = build_chunks([*messages[:at], *messages[at + 1 :]], tokenizer, packing)
        fresh.append(len({chunk.text for chunk in left} - old))
    assert sum(fresh) / len(fresh) <= 2


def test_packing_a_long_thread_counts_the_tokens_of_few_times_its_text() -> None:
    messages, counted = long_thread(3), list[int]()

    class RecordingTokenizer(O200kTokenizer):
        def count(self, text: str) -> int:
            counted.append(len(text))
            return super().count(text)

    build_chunks(messages, RecordingTokenizer(), ChunkingOptions())
    assert sum(counted) < 12 * sum(len(message.text) for message in messages)
