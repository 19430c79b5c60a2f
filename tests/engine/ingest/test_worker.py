from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engine import Engine
from engine.errors import EngineError, InvalidReply, ModelRefused, ModelUnreachable, StoreError
from engine.ingest import extract_step, worker
from engine.ingest.extract_step import retry_delay
from engine.ingest.worker import IngestWorker
from engine.models import Question
from engine.options import EngineOptions
from engine.projection import projector as projecting
from engine.projection.projector import Projector
from engine.scheduling import supervisor
from engine.scheduling.foreground import NextStep
from engine.storage.ledger.profiles import Profiles
from engine.storage.sqlite import database
from engine.usage import Purpose
from tests.support.databases import find_database
from tests.support.engine_fixture import (
    HERE,
    Panic,
    add_indexed,
    doc,
    open_memory_engine,
    statuses,
    wait_until,
)
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE
from tests.support.toy_language import ToyLanguage


class ProjectionCounter:
    """Counts the batches that an engine projects."""

    def __init__(self, engine: Engine) -> None:
        self.batches = 0
        self._write = engine._ledger.write
        engine._ledger.write = self._count  # type: ignore[method-assign]

    async def _count(self, work: Any, *arguments: Any, **options: Any) -> Any:
        self.batches += work is Profiles.save_batch
        return await self._write(work, *arguments, **options)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine with one indexed document, whose worker has stopped."""
    async with open_memory_engine(tmp_path) as opened:
        await add_indexed(opened, "Ada met Bob.", stop_worker=True)
        yield opened


@pytest.fixture
def slow_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 60.0, "project": 60.0})


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_step, "FIRST_TEST_SECONDS", 0.0)
    monkeypatch.setattr(extract_step, "retry_delay", lambda _: 0.05)
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(worker, "MIN_COOLDOWN_SECONDS", 0.01)
    monkeypatch.setattr(worker, "ERROR_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 0.0, "project": 0.0})


def test_the_wait_before_another_try_doubles_up_to_ten_minutes() -> None:
    assert [retry_delay(tries) for tries in (0, 1, 2, 6, 7, 50)] == [5.0, 10.0, 20.0, 320.0, 600.0, 600.0]


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize(
    ("owner", "step", "error"),
    [
        (IngestWorker, "_embed", Panic()),
        (IngestWorker, "_extract", sqlite3.OperationalError("odd")),
        (IngestWorker, "_project", asyncio.CancelledError()),
        (Projector, "end_cooldown", KeyError("bug")),
    ],
)
async def test_a_step_that_meets_an_unforeseen_error_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, step: str, error: BaseException
) -> None:
    runs, original = Counter[str](), getattr(owner, step)

    async def fail_twice(self: Any) -> Any:
        runs[step] += 1
        if runs[step] < 3:
            raise error
        return await original(self)

    monkeypatch.setattr(owner, step, fail_twice)
    async with open_memory_engine(tmp_path, options=EngineOptions(summary_cooldown=0.01)) as engine:
        await engine.documents.add(doc("a", "Ada met Bob."))
        await wait_until(lambda: runs[step] >= 3 and engine._worker.step_error is None)
        await engine.wait_until_indexed()
        assert await statuses(engine) == {"a": "indexed"}
        assert sum(report.failures for report in engine.supervisor.list_reports()) == 2
        await wait_until(lambda: engine.supervisor.list_problems() == [])


@pytest.mark.usefixtures("quick_retries")
async def test_a_ledger_locked_by_another_program_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_database(tmp_path):
        pytest.skip("only files are locked by other programs")
    pragmas = tuple(re.sub(r"busy_timeout = \d+", "busy_timeout = 50", pragma) for pragma in database.PRAGMAS)
    monkeypatch.setattr(database, "PRAGMAS", pragmas)
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 50)
    async with open_memory_engine(tmp_path) as engine:
        await engine.documents.add(doc("a", "Ada met Bob."))
        foreign = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        foreign.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another program"):
            await engine.wait_until_indexed()
        assert "locked by another program" in " ".join((await engine.maintenance.get_status(HERE)).background)
        foreign.execute("ROLLBACK")
        foreign.close()
        await wait_until(lambda: engine._worker.step_error is None)
        await engine.wait_until_indexed()
        assert await statuses(engine) == {"a": "indexed"}


@pytest.mark.parametrize("error", [InvalidReply("odd"), ModelRefused("no"), EngineError("odd"), KeyError("bug")])
async def test_a_chunk_is_given_up_after_its_tries_or_at_once_if_hopeless(tmp_path: Path, error: Exception) -> None:
    language, attempts = ToyLanguage(), 1 if isinstance(error, InvalidReply) else 6
    language.failing["extract", "Ada"] = error
    async with open_memory_engine(tmp_path, language, options=EngineOptions(max_attempts=attempts)) as engine:
        await add_indexed(engine, "Ada met Bob.")
        [listed] = await engine.documents.list(HERE)
        assert (listed.status, bool(listed.error), language.calls["extract"]) == ("searchable", True, 1)
    language.failing.clear()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.wait_until_indexed()
        assert isinstance(error, ModelRefused) or await statuses(engine) == {"d0": "indexed"}


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("shared", [0, 1000])
async def test_an_unreachable_model_is_asked_for_one_chunk_at_a_time(tmp_path: Path, shared: int) -> None:
    language = ToyLanguage()
    language.batch_token_limit = shared
    language.failing["extract", ""] = ModelUnreachable("nobody is there")
    options = EngineOptions(max_attempts=1, extraction_concurrency=2, extraction_linger=0.0)
    async with open_memory_engine(tmp_path, language, options=options) as engine:
        for number in range(9):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        await language.wait_for_calls("extract", 15)
        assert str(engine.maintenance.indexing_error) == "nobody is there"
        assert engine.maintenance.extraction_failures > 0
        assert await engine.maintenance.count_pending_documents() > 0
        assert len(set(engine._worker._extract_step.running_calls)) <= 1
        assert {document.error for document in await engine.documents.list(HERE)} == {""}
        language.failing.clear()
        await asyncio.wait_for(engine.wait_until_indexed(), PATIENCE)
        assert engine.maintenance.indexing_error is None
        assert await engine.maintenance.count_pending_documents() == 0
        assert set((await statuses(engine)).values()) == {"indexed"}


@pytest.mark.usefixtures("quick_retries")
async def test_an_unreachable_model_is_no_error_once_there_is_nothing_to_extract(tmp_path: Path) -> None:
    language = ToyLanguage()
    language.failing["extract", ""] = ModelUnreachable("nobody is there")
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.documents.add(doc("a", "Ada met Bob."))
        await wait_until(lambda: engine.maintenance.indexing_error is not None)
        await engine.documents.forget("a")
        await wait_until(lambda: engine.maintenance.indexing_error is None)


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize(
    ("purpose", "shared", "error"),
    [("extract", 0, asyncio.CancelledError()), ("extract", 4000, GeneratorExit()), ("summarize", 0, Panic())],
)
async def test_what_a_model_raises_that_is_no_exception_is_a_failure_that_passes(
    tmp_path: Path, purpose: Purpose, shared: int, error: BaseException
) -> None:
    language = ToyLanguage()
    language.batch_token_limit = shared
    language.failing[purpose, "Ada"] = error
    options = EngineOptions(extraction_linger=0.05, summary_cooldown=0.1)
    async with open_memory_engine(tmp_path, language, options=options) as engine, asyncio.timeout(PATIENCE):
        await engine.documents.add(doc("a", *(f"Ada met Bob {'very ' * 300} in case {number}." for number in range(9))))
        await engine.documents.add(doc("b", "Carl met Dora."))
        # A summary is made again only after minutes.
        await language.wait_for_calls(purpose, 2 if purpose == "extract" else 1)
        language.failing.clear()
        await engine.wait_until_indexed()
        assert await statuses(engine) == {"a": "indexed", "b": "indexed"}
        assert (await engine.maintenance.get_status(HERE)).background == ()


async def test_documents_that_come_one_after_another_are_embedded_and_projected_together(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        counter, since = ProjectionCounter(engine), time.monotonic()
        for number in range(20):
            await engine.documents.add(doc(f"d{number}", f"Ada met Bob {number} times."))
            await asyncio.sleep(0.03)
        spent = time.monotonic() - since
        assert counter.batches <= 2 + spent / worker.BATCH_INTERVAL_SECONDS["project"]
        await engine.wait_until_indexed()
        assert counter.batches >= 2
    batches = [sum(text.startswith("Ada met") for text in batch) for batch in embedder.batches]
    assert sum(batches) == 20
    assert len([size for size in batches if size]) <= 3 + spent / worker.BATCH_INTERVAL_SECONDS["embed"]


async def test_a_question_at_the_start_comes_before_projection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.", stop_worker=True)
        await engine.corrections.describe("here", "Ada", "She sings.")
    monkeypatch.setattr(worker, "STARTUP_GRACE_SECONDS", 20.0)
    async with open_memory_engine(tmp_path) as reopened:
        counter = ProjectionCounter(reopened)
        assert (await reopened.retrieve(Question("Ada", HERE))).entities
        assert counter.batches == 0
        async with asyncio.timeout(PATIENCE):
            await reopened.wait_until_indexed()
        assert counter.batches == 1


async def test_batches_are_short_while_questions_are_asked(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projecting, "FOREGROUND_BATCH_SIZE", 1)
    await engine.corrections.describe("here", "Ada", "One.")
    await engine.corrections.describe("here", "Bob", "Two.")
    await engine.retrieve(Question("Ada", HERE))
    assert await engine._projector.step() is NextStep.CONTINUE
    assert len(engine._projector._delivering_keys) == 1


async def wait_for_statuses(engine: Engine, *expected: str) -> None:
    """Wait for these statuses without hurrying the engine."""

    async def are_reached() -> bool:
        return sorted((await statuses(engine)).values()) == sorted(expected)

    await wait_until(are_reached)


@pytest.mark.usefixtures("slow_batches")
async def test_forgetting_and_closing_wait_for_no_other_documents(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        async with open_memory_engine(tmp_path) as engine:
            await engine.documents.add(doc("a", "Ada met Bob."))
            await wait_for_statuses(engine, "indexed")
            await engine.documents.forget("a")
            await engine.maintenance.compact()
            assert (await engine.maintenance.verify()).is_clean
            await engine.documents.add(doc("b", "Ada met Carl."))


@pytest.mark.usefixtures("slow_batches")
async def test_while_documents_are_extracted_even_a_waiter_lets_them_come_together(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.documents.add(doc("a", "Ada met Bob."))
        await wait_for_statuses(engine, "indexed")
        language.gate.clear()
        await engine.documents.add(doc("b", "Ada met Carl."))
        await language.wait_for_calls("extract", 2)
        waiting = asyncio.create_task(engine.wait_until_indexed())
        await asyncio.sleep(0.1)
        assert await statuses(engine) == {"a": "indexed", "b": "pending"}
        language.gate.set()
        await asyncio.wait_for(waiting, PATIENCE)
        await wait_for_statuses(engine, "indexed", "indexed")


async def test_the_graph_is_trusted_again_once_all_that_was_stale_is_in_it(engine: Engine) -> None:
    projector = engine._projector
    projector.graph_uncertain = True
    await projector.end_cooldown()
    await engine.corrections.describe("here", "Ada", "One.")
    assert await projector.step() is NextStep.GATHER
    assert (projector.graph_uncertain, projector.cooldown_ended) == (True, True)
    await engine.corrections.describe("here", "Ada", "Two.")
    await engine.corrections.describe("here", "Bob", "Three.")
    assert await projector.step() is NextStep.GATHER
    assert (projector.graph_uncertain, projector.cooldown_ended) == (False, False)


async def test_a_batch_that_left_something_behind_does_not_make_the_graph_trusted(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=EngineOptions(projection_batch_size=1)) as engine:
        await add_indexed(engine, "Ada met Bob.", stop_worker=True)
        engine._projector.graph_uncertain = True
        await engine.corrections.describe("here", "Ada", "One.")
        await engine.corrections.describe("here", "Bob", "Two.")
        assert [await engine._projector.step() for _ in range(2)] == [NextStep.CONTINUE] * 2
        assert engine._projector.graph_uncertain


async def test_a_graph_that_could_not_be_written_is_not_trusted_until_it_is(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("the disk is away")

    projector = engine._projector
    await engine.corrections.describe("here", "Ada", "One.")
    with monkeypatch.context() as patch:
        patch.setattr(engine._runtime.graph, "upsert", fail)
        assert await projector.step() is NextStep.GATHER
        with pytest.raises(StoreError, match="away"):
            await projector.step()
    assert projector.graph_uncertain
    assert [await projector.step() for _ in range(2)] == [NextStep.GATHER, NextStep.CONTINUE]
    assert not projector.graph_uncertain
    assert (await engine.maintenance.verify()).is_clean


async def test_a_hot_key_is_summarized_once_a_cooldown_unless_somebody_waits(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language, options=EngineOptions(summary_cooldown=3600)) as engine:
        await add_indexed(engine, "\n".join(f"Ada did {n}." for n in range(10)))
        assert language.calls["summarize"] == 1
        for n in range(3):
            await engine.documents.add(doc(f"more {n}", f"Ada did more {n}."))
            await language.wait_for_calls("extract", 2 + n)
        await engine.wait_until_indexed()
        assert 2 <= language.calls["summarize"] <= 4
        ada = await engine.graph.get_entity("Ada", HERE)
        assert ada is not None
        assert "13 parts" in ada.description


class PausedComparison:
    """A comparison of names whose batch lasts until it is cancelled."""

    def __init__(self) -> None:
        self.started, self.cancelled = asyncio.Event(), asyncio.Event()

    async def compare_batch(self) -> bool:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return True


async def test_new_work_ends_a_comparison_of_names(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.")
        engine._worker.duplicate_finder = comparison = PausedComparison()  # type: ignore[assignment]
        async with asyncio.timeout(PATIENCE):
            await comparison.started.wait()
            assert not comparison.cancelled.is_set()
            await engine.documents.add(doc("late", "Carla met Dan."))
            await comparison.cancelled.wait()
            await engine.wait_until_indexed()
