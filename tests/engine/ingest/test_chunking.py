"""The separators of K1 (C1 to C3), and packing."""

from __future__ import annotations

import hashlib
import random
from timeit import repeat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidDocument
from engine.ingest.chunking import ChunkTooLong, build_chunks, split_at_separators
from engine.models import Chunk, ChunkPiece, Passage
from engine.options import ChunkingOptions
from engine.text.tokenizer import O200kTokenizer
from tests.support.tokenizers import ByteTokenizer, CharacterTokenizer, UnevenTokenizer

if TYPE_CHECKING:
    from engine.text.windows import Tokenizer

LETTERS = "0123456789abcdefghijklmno"
SMALL = ChunkingOptions(size=40, overlap=6, target_size=15, hash_modulo=3)
TOKENIZERS: list[Tokenizer] = [CharacterTokenizer(), ByteTokenizer(), UnevenTokenizer(), O200kTokenizer()]


def pieces(text: str, separator: str, size: int, overlap: int = 0, *, only: bool = False) -> list[tuple[str, int]]:
    spans = split_at_separators(text, CharacterTokenizer(), separator, only=only, size=size, overlap=overlap)
    return [(text[span.start : span.stop], span.tokens) for span in spans]


def passages(*texts: str) -> list[Passage]:
    return [Passage(str(number), text) for number, text in enumerate(texts)]


class TestK1Split:
    def test_c1_a_text_is_split_at_the_separator(self) -> None:
        assert pieces("alpha\n\nbeta", "\n\n", 10, only=True) == [("alpha", 5), ("beta", 4)]

    def test_c2_a_piece_that_is_too_long_is_an_error_with_a_preview(self) -> None:
        with pytest.raises(ChunkTooLong) as caught:
            pieces("a" * 12, "\n\n", 5, only=True)
        assert (caught.value.tokens, caught.value.limit, caught.value.preview) == (12, 5, "a" * 12)
        assert isinstance(caught.value, InvalidDocument)
        assert caught.value.hint

    def test_c3_the_limit_itself_is_not_too_long(self) -> None:
        assert pieces("a" * 10, "\n", 10, only=True) == [("a" * 10, 10)]
        with pytest.raises(ChunkTooLong):
            pieces("a" * 11, "\n", 10, only=True)

    def test_a_piece_that_is_too_long_is_cut_into_windows_if_that_is_allowed(self) -> None:
        assert pieces(f"ab\n{LETTERS[:12]}\n\ncd", "\n", 10, 3) == [
            ("ab", 2),
            ("0123456789", 10),
            ("789ab", 5),
            ("cd", 2),
        ]


class TestPacking:
    def test_short_passages_are_packed_line_by_line_and_keep_their_boundaries(self) -> None:
        made = build_chunks(passages("one", "", " two ", "  ", "three"), CharacterTokenizer(), SMALL)
        assert made == [
            Chunk("one\ntwo\nthree", 13, (ChunkPiece("0", 0, 3), ChunkPiece("2", 1, 4), ChunkPiece("4", 0, 5)))
        ]

    def test_a_long_passage_is_cut_into_windows_of_its_own(self) -> None:
        made = build_chunks(
            passages("before", LETTERS, "after"),
            CharacterTokenizer(),
            ChunkingOptions(size=10, overlap=3, target_size=10),
        )
        assert [chunk.text for chunk in made] == ["before", "0123456789", "789abcdefg", "efghijklmn", "lmno", "after"]
        assert made[2].pieces == (ChunkPiece("1", 7, 17),)

    def test_a_chunk_ends_before_it_would_exceed_the_size(self) -> None:
        packing = ChunkingOptions(size=10, overlap=0, target_size=10, hash_modulo=10**18)
        assert [
            chunk.text for chunk in build_chunks(passages("aaaa", "bbbbb", "c"), CharacterTokenizer(), packing)
        ] == [
            "aaaa\nbbbbb",
            "c",
        ]

    def test_past_the_soft_limit_content_ends_a_chunk(self) -> None:
        def ends(text: str) -> bool:
            return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % 3 == 0

        last, other = (next(f"text {n}" for n in range(99) if ends(f"text {n}") is wanted) for wanted in (True, False))
        made = build_chunks(passages(last, other, other, last, other), CharacterTokenizer(), SMALL)
        assert [len(chunk.pieces) for chunk in made] == [4, 1]

    def test_a_separator_always_ends_a_chunk(self) -> None:
        packing = ChunkingOptions(size=20, overlap=3, target_size=10, separator="--")
        made = build_chunks(passages("alpha -- beta", "gamma", "--delta--"), CharacterTokenizer(), packing)
        assert [chunk.text for chunk in made] == ["alpha", "beta\ngamma", "delta"]
        assert made[1].pieces == (ChunkPiece("0", 9, 13), ChunkPiece("1", 0, 5))

    def test_with_only_a_long_piece_is_an_error(self) -> None:
        with pytest.raises(ChunkTooLong):
            build_chunks(
                passages("a" * 30),
                CharacterTokenizer(),
                ChunkingOptions(size=20, overlap=3, separator="--", separator_only=True),
            )

    def test_no_passages_no_chunks(self) -> None:
        assert (
            build_chunks(passages("", " \n"), CharacterTokenizer(), SMALL)
            == build_chunks([], CharacterTokenizer(), SMALL)
            == []
        )

    def test_a_modulo_below_one_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="modulo"):
            ChunkingOptions(hash_modulo=0)

    def test_the_limit_holds_where_joined_text_counts_more_than_its_parts(self) -> None:
        class Clinging(CharacterTokenizer):
            def count(self, text: str) -> int:
                return len(text) + 3 * text.count("!\n")

        made = build_chunks(
            passages("aaaa!", "bbbb!", "cccc!", "dddd!"),
            Clinging(),
            ChunkingOptions(size=20, overlap=0, target_size=20),
        )
        assert all(chunk.tokens == Clinging().count(chunk.text) <= 20 for chunk in made)
        assert "\n".join(chunk.text for chunk in made) == "aaaa!\nbbbb!\ncccc!\ndddd!"


TEXT = st.text(st.sampled_from("abC. \n中😀"), max_size=60)


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda tokenizer: type(tokenizer).__name__)
@settings(max_examples=60)
@given(st.lists(TEXT, max_size=12), st.sampled_from(["", "\n", "C"]))
def test_every_word_of_every_passage_is_in_a_piece_and_no_chunk_is_too_long(
    tokenizer: Tokenizer, written: list[str], separator: str
) -> None:
    given_passages = passages(*written)
    packing = ChunkingOptions(
        size=SMALL.size, overlap=SMALL.overlap, target_size=15, hash_modulo=3, separator=separator
    )
    made = build_chunks(given_passages, tokenizer, packing)
    held: set[tuple[str, int]] = set()
    for chunk in made:
        parts = [written[int(piece.passage)][piece.start : piece.stop] for piece in chunk.pieces]
        assert chunk.text == "\n".join(parts)
        assert chunk.tokens == tokenizer.count(chunk.text) <= packing.size
        assert all(parts)
        held |= {(piece.passage, index) for piece in chunk.pieces for index in range(piece.start, piece.stop)}
    wanted = {
        (passage.key, index)
        for passage in given_passages
        for index, character in enumerate(passage.text)
        if not character.isspace() and character != separator
    }
    assert wanted <= held


@settings(max_examples=150)
@given(st.lists(st.text("abc d", max_size=60), min_size=2, max_size=40), st.data())
def test_an_edit_recuts_only_up_to_the_next_cut_that_both_share(written: list[str], data: st.DataObject) -> None:
    where = data.draw(st.integers(0, len(written) - 1))
    before = passages(*written)
    replacement = data.draw(st.one_of(st.none(), st.text("abc d", max_size=90)))
    edited = [] if replacement is None else [Passage(before[where].key, replacement)]
    old = build_chunks(before, CharacterTokenizer(), SMALL)
    new = build_chunks([*before[:where], *edited, *before[where + 1 :]], CharacterTokenizer(), SMALL)

    def ends_earlier(chunk: Chunk, limit: int) -> bool:
        return int(chunk.pieces[-1].passage) < limit

    # What does not fit ends two chunks at most: one where its parts are best cut, and what was left of them.
    untouched = [chunk for chunk in old if ends_earlier(chunk, where)][:-2]
    assert new[: len(untouched)] == untouched
    starts = {chunk.pieces[0]: number for number, chunk in enumerate(old) if int(chunk.pieces[0].passage) > where}
    for number, chunk in enumerate(new):
        if chunk.pieces[0] in starts:
            assert new[number:] == old[starts[chunk.pieces[0]] :]
            break


def thread(seed: int, length: int = 400) -> list[Passage]:
    """A thread of messages of 20 words each."""
    draw = random.Random(seed)
    words = [f"{draw.choice('bcdfglmnprst')}{draw.choice('aeiou')}{draw.choice('lmnrst')}{n % 7}" for n in range(500)]
    return passages(*(f"[2026-11-20 10:03] Ada: {' '.join(draw.choices(words, k=20))}" for _ in range(length)))


@pytest.mark.parametrize("seed", [1, 2])
def test_deleting_a_message_of_a_long_thread_makes_at_most_two_new_chunks_on_average(seed: int) -> None:
    messages, tokenizer, packing = thread(seed), O200kTokenizer(), ChunkingOptions()
    old = {chunk.text for chunk in build_chunks(messages, tokenizer, packing)}
    fresh = []
    for where in range(0, len(messages), 4):
        left = build_chunks([*messages[:where], *messages[where + 1 :]], tokenizer, packing)
        fresh.append(len({chunk.text for chunk in left} - old))
    assert sum(fresh) / len(fresh) <= 2


def test_packing_a_thread_of_400_messages_takes_a_few_times_as_long_as_counting_its_tokens() -> None:
    messages, tokenizer = thread(3), O200kTokenizer()
    tokenizer.count("load the vocabulary")

    def counted() -> None:
        for message in messages:
            tokenizer.count(message.text)

    def packed() -> None:
        build_chunks(messages, tokenizer, ChunkingOptions())

    counting, packing = (min(repeat(work, number=1, repeat=7)) for work in (counted, packed))
    assert packing < 12 * counting
