from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.sources import MAX_SOURCE_NUMBERS, join_overlapping, number_sources
from engine.storage.ledger.records.query_results import ChunkText, PieceText

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def chunk(number: int, **texts: str) -> ChunkText:
    """Passages by key; a key may name the document before a "_"."""
    pieces = tuple(
        PieceText(key, document or "d", "Title", "p. 1", "https://x", "Ada", DAY, text, "space", "room")
        for (document, _, key), text in ((name.rpartition("_"), text) for name, text in texts.items())
    )
    return ChunkText(number, f"key{number}", pieces[0].document, "\n".join(texts.values()), pieces)


def test_passages_are_numbered_from_one_in_the_order_of_the_chunks() -> None:
    sources = number_sources([chunk(7, b="B", c="C"), chunk(3, a="A")]).sources
    numbers = [(source.number, source.passage, source.chunk) for source in sources]
    assert numbers == [(1, "b", "key7"), (2, "c", "key7"), (3, "a", "key3")]
    assert sources[0].label == "p. 1"
    assert number_sources([]).sources == ()


def test_one_passage_of_one_document_has_one_number() -> None:
    numbered = number_sources([chunk(1, d_a="one"), chunk(2, e_a="two"), chunk(3, d_a="three")])
    assert [(source.document, source.text) for source in numbered.sources] == [("d", "one\n…\nthree"), ("e", "two")]
    assert numbered.find_supporting([3], ["three"]) == (1,)


def test_windows_of_a_passage_are_joined_where_they_overlap() -> None:
    text = "".join(f"This is sentence {number} of the passage. " for number in range(9))
    assert join_overlapping(text[:200], text[150:]) == join_overlapping(text[150:], text[:200]) == text
    assert join_overlapping(text, text[30:90]) == join_overlapping(text[30:90], text) == text
    assert join_overlapping("It ends", "Another") == "It ends\n…\nAnother"


@given(st.text(alphabet="ab ", min_size=60, max_size=120), st.integers(0, 60), st.integers(20, 40))
def test_the_shared_part_of_two_windows_is_given_once(text: str, start: int, shared: int) -> None:
    whole = text + "".join(chr(0x4E00 + index) for index in range(60)) + text[::-1]
    middle = len(text) + 5
    assert join_overlapping(whole[: middle + shared], whole[middle:]) == whole
    assert whole[start:].startswith(join_overlapping(whole[start : middle + shared], whole[start : middle + shared]))


def test_equal_texts_are_one_source_and_support_alike() -> None:
    numbered = number_sources([chunk(1, d_a="The boat is red."), chunk(2, e_a="The boat is red.")])
    assert [source.document for source in numbered.sources] == ["d"]
    assert numbered.find_supporting([2], ["boat"]) == (1,)


def test_a_row_is_supported_by_the_passages_that_name_it() -> None:
    numbered = number_sources([chunk(1, a="ADA sails", b="Bob", c="ada and bob", d="x")])
    for names, numbers in ((["Ada"], (1, 3)), (["Ada", "Bob"], (3,)), (["Bob", "Cleo"], (2, 3)), (["Cleo"], (1, 2, 3))):
        assert numbered.find_supporting([1], names) == numbers
    assert numbered.find_supporting([9], ["Ada"]) == ()


def test_a_row_has_few_numbers_those_of_the_first_evidence() -> None:
    numbered = number_sources([chunk(number, **{str(number): f"Ada {number}"}) for number in range(1, 21)])
    assert numbered.find_supporting(range(20, 0, -1), ["Ada"]) == tuple(range(13, 21))
    assert len(numbered.find_supporting(range(1, 21), ["Ada"])) == MAX_SOURCE_NUMBERS
