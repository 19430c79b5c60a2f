from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import (
    EngineError,
    InvalidApiKey,
    InvalidReply,
    ModelNotFound,
    ModelRefused,
    ModelUnreachable,
    NothingGiven,
    PromptTooLong,
    RateLimited,
)
from engine.models import Extraction
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.queries.stats import Stats
from engine.storage.ledger.work.work_queue import WorkQueue
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import HERE, doc

NEVER = float("inf")


@pytest.fixture
async def chunk(ledger: LedgerFixture) -> int:
    """The only chunk of the only document."""
    await ledger.add(doc("a", "one"))
    [chunk] = await ledger.column("SELECT id FROM chunk")
    return int(chunk)


@pytest.mark.parametrize("error", [ModelRefused("no"), PromptTooLong("too long")])
async def test_a_new_start_does_not_try_what_would_fail_again(
    ledger: LedgerFixture, chunk: int, error: EngineError
) -> None:
    await ledger.write(Facts.record_extraction_failure, chunk, error, NEVER)
    await ledger.write(WorkQueue.resume)
    assert await ledger.column("SELECT error FROM document") == [str(error)]
    assert await ledger.column("SELECT retry_at FROM chunk") == [NEVER]
    assert await ledger.write(WorkQueue.retry_documents) == 1
    assert await ledger.column("SELECT error FROM chunk WHERE retry_at = 0 AND NOT permanent_failure") == [""]


async def test_a_chunk_that_another_process_has_read_meanwhile_is_not_blamed(ledger: LedgerFixture, chunk: int) -> None:
    await ledger.execute("UPDATE chunk SET extraction = ?", parameters=(b"read",))
    await ledger.write(Facts.record_extraction_failure, chunk, InvalidReply("slow"), NEVER)
    assert await ledger.column("SELECT error FROM chunk UNION ALL SELECT error FROM document") == ["", ""]


@pytest.mark.parametrize("error", [InvalidApiKey("wrong"), ModelNotFound("gpt-5x"), RateLimited("slow down")])
async def test_a_new_start_tries_what_may_have_been_mended(
    ledger: LedgerFixture, chunk: int, error: EngineError
) -> None:
    await ledger.give_up_embedding(chunk, error)
    await ledger.write(WorkQueue.resume)
    assert await ledger.column("SELECT status FROM document WHERE error = ''") == ["pending"]
    assert await ledger.column("SELECT id FROM stale_key WHERE kind = 0") == [chunk]


async def test_only_an_answer_of_the_model_is_a_try_and_a_new_start_counts_from_none(
    ledger: LedgerFixture, chunk: int
) -> None:
    for error in (InvalidReply("odd"), RateLimited("slow down"), ModelUnreachable("nobody")):
        await ledger.write(Facts.record_extraction_failure, chunk, error, 5e9)
    assert await ledger.column("SELECT attempts FROM chunk WHERE error = 'nobody'") == [1]
    assert await ledger.read(Facts.has_pending_extraction)
    await ledger.write(WorkQueue.resume)
    assert await ledger.column("SELECT attempts + retry_at FROM chunk WHERE error = ''") == [0]


async def test_beside_a_hopeless_chunk_the_others_are_tried_at_a_new_start(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one", "two"))
    [hopeless, other] = await ledger.column("SELECT id FROM chunk ORDER BY ordinal")
    await ledger.give_up_embedding(hopeless, ModelRefused("no"))
    await ledger.give_up_embedding(other, InvalidApiKey("wrong"))
    await ledger.write(WorkQueue.resume)
    assert await ledger.column("SELECT status FROM document WHERE error <> ''") == ["failed"]
    assert await ledger.column("SELECT id FROM stale_key WHERE kind = 0") == [other]
    assert await ledger.column("SELECT id FROM chunk WHERE retry_at = 0") == [other]


async def test_what_another_program_or_model_gave_up_is_tried_again(ledger: LedgerFixture, chunk: int) -> None:
    assert await ledger.write(WorkQueue.retry_after_change, "one")
    await ledger.write(Facts.record_extraction_failure, chunk, ModelRefused("no"), NEVER)
    assert await ledger.read(WorkQueue.count_given_up) == 1
    assert not await ledger.write(WorkQueue.retry_after_change, "one")
    assert await ledger.column("SELECT retry_at FROM chunk") == [NEVER]
    assert await ledger.write(WorkQueue.retry_after_change, "two")
    assert await ledger.column("SELECT retry_at FROM chunk WHERE error = ''") == [0]
    assert await ledger.read(WorkQueue.count_given_up) == 0


async def test_what_the_model_did_not_read_is_read_again_on_request_only(ledger: LedgerFixture, chunk: int) -> None:
    error = NothingGiven("m gave nothing", outcome="rowless")
    await ledger.write(Facts.record_extraction_failure, chunk, error, NEVER)
    assert await ledger.read(Stats.count_incomplete) == {"rowless": 1}
    await ledger.write(WorkQueue.resume)
    assert await ledger.read(Stats.count_incomplete) == {"rowless": 1}
    assert await ledger.write(WorkQueue.retry_documents) == 1
    assert await ledger.read(Stats.count_incomplete) == {}
    assert await ledger.column("SELECT retry_at FROM chunk") == [0]


async def mark_unknown(ledger: LedgerFixture, chunk: int) -> None:
    sql = "INSERT INTO incomplete_chunk (chunk, outcome) VALUES (?, 'unknown')"
    await ledger.write(lambda db: db.execute(sql, (chunk,)))


async def test_chunks_without_facts_of_a_former_version_are_counted_and_read_again(ledger: LedgerFixture) -> None:
    [chunk] = await ledger.add_facts("a", Extraction())
    await mark_unknown(ledger, chunk)
    [problem] = await ledger.read(Stats.list_problems, HERE)
    assert (problem.key, problem.outcome, problem.chunks) == ("", "unknown", 1)
    assert await ledger.write(WorkQueue.retry_after_change, "another")
    assert await ledger.column("SELECT COUNT(*) FROM chunk WHERE extraction IS NULL") == [0]
    assert await ledger.write(WorkQueue.retry_documents) == 1
    assert await ledger.column("SELECT COUNT(*) FROM chunk WHERE extraction IS NULL") == [1]
    await mark_unknown(ledger, chunk)
    await ledger.write(WorkQueue.accept_unknown)
    assert await ledger.read(Stats.list_problems, HERE) == []


async def test_incomplete_facts_are_kept_known_to_no_other_chunk_and_replaced(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one"))
    [chunk] = await ledger.column("SELECT id FROM chunk")
    partial = replace(extraction("Ada", "Bob"), missing="m was cut off")
    assert await ledger.write(Facts.save_extraction, chunk, b"key", partial)
    assert await ledger.read(Facts.find_extraction, (b"key", b"shared"), chunk) is None
    [problem] = await ledger.read(Stats.list_problems, HERE)
    assert (problem.outcome, problem.error) == ("cut_off", "m was cut off")
    await ledger.write(WorkQueue.retry_documents)
    assert await ledger.column("SELECT canonical FROM name ORDER BY 1") == ["ada", "bob"]
    assert await ledger.write(Facts.save_extraction, chunk, b"key", extraction("Ada", "Carla"))
    assert await ledger.column("SELECT canonical FROM name ORDER BY 1") == ["ada", "carla"]
    assert await ledger.read(Stats.list_problems, HERE) == []


async def test_a_status_is_behind_exactly_if_advancing_changes_one(ledger: LedgerFixture, chunk: int) -> None:
    changes = (
        "UPDATE document SET open = true",
        "DELETE FROM stale_key WHERE kind = 0",
        "UPDATE document SET unextracted_chunks = 1",
        "UPDATE document SET unextracted_chunks = 0",
        "UPDATE document SET open = false, error = 'no'",
        "UPDATE document SET error = ''",
        "DELETE FROM stale_key",
        "UPDATE document SET open = false",
    )
    moved = list[str]()
    for change in changes:
        await ledger.execute(change)
        before = await ledger.column("SELECT status FROM document")
        is_behind = await ledger.read(WorkQueue.has_status_behind)
        await ledger.write(WorkQueue.advance_documents)
        after = await ledger.column("SELECT status FROM document")
        assert is_behind == (before != after), change
        moved += after if is_behind else []
    assert moved == ["searchable", "indexed"]
