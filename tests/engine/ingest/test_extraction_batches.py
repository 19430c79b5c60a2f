from __future__ import annotations

from engine.ingest.extraction_batches import FILE_LINGER_SECONDS, MAX_EXCERPTS, build_batches, shared_extraction_key
from engine.storage.ledger.records.content import UnextractedChunk


def chunk(id_: int, tokens: int = 100, space: int = 1, tries: int = 0, kind: str = "conversation") -> UnextractedChunk:
    return UnextractedChunk(id_, id_, f"text {id_}", "", tries, space, tokens, kind)


def ids(unread: list[UnextractedChunk], shared_tokens: int = 300) -> list[list[int]]:
    return [[each.id for each in batch.chunks] for batch in build_batches(unread, shared_tokens)]


def test_small_chunks_share_a_call_up_to_its_tokens() -> None:
    assert ids([chunk(n) for n in range(1, 8)]) == [[1, 2, 3], [4, 5, 6], [7]]


def test_no_call_holds_chunks_of_two_spaces() -> None:
    assert ids([chunk(1), chunk(2, space=2), chunk(3), chunk(4, space=2)]) == [[1, 3], [2, 4]]


def test_a_large_chunk_and_one_that_failed_are_read_alone() -> None:
    assert ids([chunk(1), chunk(2, tokens=900), chunk(3, tries=1), chunk(4)]) == [[1, 4], [2], [3]]


def test_without_shared_calls_each_is_read_alone() -> None:
    assert ids([chunk(1), chunk(2)], 0) == [[1], [2]]


def test_a_call_holds_only_so_many_excerpts() -> None:
    assert [len(each) for each in ids([chunk(n, tokens=1) for n in range(MAX_EXCERPTS + 1)])] == [MAX_EXCERPTS, 1]


def test_a_few_small_conversations_wait_for_more_files_hardly_and_full_calls_never() -> None:
    def wait(*unread: UnextractedChunk) -> list[float]:
        return [batch.linger_seconds(60.0) for batch in build_batches(unread, 300)]

    assert wait(chunk(1)) == [60.0]
    assert wait(chunk(1), chunk(2), chunk(3), chunk(4)) == [0.0, 60.0]
    assert wait(chunk(1, tokens=250)) == [0.0]
    assert wait(chunk(1, tokens=900)) == [0.0]
    assert wait(chunk(1, tries=1)) == [0.0]
    assert wait(chunk(1), chunk(2, kind="file")) == [FILE_LINGER_SECONDS]


def test_a_reading_of_a_shared_call_is_known_in_its_space_only() -> None:
    assert (
        len(
            {
                b"key",
                shared_extraction_key(b"key", 1),
                shared_extraction_key(b"key", 2),
                shared_extraction_key(b"other", 1),
            }
        )
        == 4
    )
