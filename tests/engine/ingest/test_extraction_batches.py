from __future__ import annotations

import pytest

from engine.ingest.extraction_batches import (
    FILE_LINGER_SECONDS,
    MAX_EXCERPTS,
    LingeringSpaces,
    build_batches,
    shared_extraction_key,
)
from engine.storage.ledger.records.content import UnextractedChunk


def chunk(id_: int, tokens: int = 100, space: int = 1, tries: int = 0, kind: str = "conversation") -> UnextractedChunk:
    return UnextractedChunk(id_, id_, f"text {id_}", "", tries, space, tokens, kind)


SEVEN = [chunk(n) for n in range(1, 8)]
TINY = [chunk(n, tokens=1) for n in range(MAX_EXCERPTS + 1)]


@pytest.mark.parametrize(
    ("chunks", "shared_tokens", "batches"),
    [
        pytest.param(SEVEN, 300, [[1, 2, 3], [4, 5, 6], [7]], id="up to the tokens of a call"),
        pytest.param([chunk(1), chunk(2, space=2), chunk(3)], 300, [[1, 3], [2]], id="never of two spaces"),
        pytest.param([chunk(1), chunk(2, 900), chunk(3)], 300, [[1, 3], [2]], id="a large one alone"),
        pytest.param([chunk(1), chunk(2, tries=1), chunk(3)], 300, [[1, 3], [2]], id="one that failed alone"),
        pytest.param(SEVEN[:2], 0, [[1], [2]], id="no shared calls"),
        pytest.param(TINY, 300, [list(range(MAX_EXCERPTS)), [MAX_EXCERPTS]], id="up to the excerpts of a call"),
    ],
)
def test_small_chunks_share_a_call(
    chunks: list[UnextractedChunk], shared_tokens: int, batches: list[list[int]]
) -> None:
    assert [[each.id for each in batch.chunks] for batch in build_batches(chunks, shared_tokens)] == batches


@pytest.mark.parametrize(
    ("chunks", "seconds"),
    [
        pytest.param([chunk(1)], [60.0], id="a small conversation"),
        pytest.param(SEVEN[:4], [0.0, 60.0], id="a full call and a small conversation"),
        pytest.param([chunk(1, tokens=250)], [0.0], id="nearly full"),
        pytest.param([chunk(1, tokens=900)], [0.0], id="large"),
        pytest.param([chunk(1, tries=1)], [0.0], id="failed before"),
        pytest.param([chunk(1), chunk(2, kind="file")], [FILE_LINGER_SECONDS], id="a file"),
    ],
)
def test_a_few_small_conversations_wait_for_more(chunks: list[UnextractedChunk], seconds: list[float]) -> None:
    assert [batch.linger_seconds(60.0) for batch in build_batches(chunks, 300)] == seconds


def test_an_extraction_of_a_shared_call_is_known_in_its_space_only() -> None:
    keys = {shared_extraction_key(key, space) for key, space in ((b"key", 1), (b"key", 2), (b"other", 1))}
    assert len(keys | {b"key"}) == 4


@pytest.mark.parametrize("longest", [5.0, 900.0, 86_400.0])
def test_a_wait_of_any_length_ends(longest: float) -> None:
    spaces, found = LingeringSpaces(longest), build_batches([chunk(1)], 300)
    moments = [longest * share / 100 for share in range(100)]
    assert not any(spaces.select_due(found, now, lambda _: False) for now in moments)
    assert spaces.waiting == {1}
    assert spaces.select_due(found, longest, lambda _: False) == found
    assert not spaces.waiting


def test_a_space_without_a_turn_keeps_its_place() -> None:
    spaces, found = LingeringSpaces(900.0), build_batches([chunk(1)], 300)
    assert not spaces.select_due(found, 0.0, lambda _: False)
    assert not spaces.select_due(build_batches([chunk(2, space=2)], 300), 800.0, lambda _: False)
    assert spaces.select_due(found, 900.0, lambda _: False) == found


def test_what_is_urgent_waits_no_longer() -> None:
    found = build_batches([chunk(1), chunk(2, space=2)], 300)
    due = LingeringSpaces(900.0).select_due(found, 0.0, lambda batch: batch.space == 2)
    assert [batch.space for batch in due] == [2]
