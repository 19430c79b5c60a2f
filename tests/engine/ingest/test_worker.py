from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import EngineError, ModelRefused, ModelUnavailable, ModelUnreachable, RateLimited, StoreError
from engine.ingest import extract_step, worker
from engine.ingest.extract_step import retry_delay
from engine.ingest.worker import IngestWorker
from engine.models import Question
from engine.options import EngineOptions
from engine.projection import projector as projecting
from engine.projection.projector import Projector
from engine.scheduling import supervisor
from engine.scheduling.batch_gate import NextStep
from engine.storage.ledger.work.batch import write_profiles
from engine.storage.sqlite import database
from tests.support.engine_fixture import HERE, doc, open_memory_engine, sqlite_ledger
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from engine import Engine
    from engine.usage import Purpose, UsageMeter


class Steps:
    """Counts the batches that an engine projects."""

    def __init__(self, engine: Engine) -> None:
        self.batches = 0
        self._write = sqlite_ledger(engine._ledger).write
        sqlite_ledger(engine._ledger).write = self._counted  # type: ignore[method-assign]

    async def _counted(self, work: Any, *given: Any, **named: Any) -> Any:
        self.batches += work is write_profiles
        return await self._write(work, *given, **named)


def test_the_wait_before_another_try_doubles_up_to_ten_minutes() -> None:
    assert [retry_delay(tries) for tries in (0, 1, 2, 6, 7, 50)] == [5.0, 10.0, 20.0, 320.0, 600.0, 600.0]


async def test_settled_raises_what_keeps_the_worker_from_it_and_goes_on_once_it_is_over(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = ModelUnavailable("the embedder is away")
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="away"):
                await asyncio.wait_for(engine.wait_until_indexed(), 5)
        assert {each.status for each in await engine.list_documents(HERE)} == {"pending"}
        embedder.failing.clear()
        async with asyncio.timeout(20):
            while engine._worker.step_error:  # noqa: ASYNC110 - it goes away by itself
                await asyncio.sleep(0.05)
        await engine.wait_until_indexed()
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}


class Panic(BaseException):
    """What a native library raises when it panics."""


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("_embed", Panic()),
        ("_embed", asyncio.CancelledError()),
        ("_embed", sqlite3.OperationalError("odd")),
        ("_extract", KeyError("bug")),
        ("_extract", asyncio.CancelledError()),
        ("_project", ConnectionResetError()),
        ("_project", asyncio.CancelledError()),
        ("end_cooldown", KeyError("bug")),
    ],
)
async def test_a_step_that_meets_what_was_not_foreseen_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(worker, "MIN_COOLDOWN_SECONDS", 0.01)
    owner = Projector if step == "end_cooldown" else IngestWorker
    met, right = Counter[str](), getattr(owner, step)

    async def wrong(self: Any) -> Any:
        met[step] += 1
        if met[step] < 3:
            raise error
        return await right(self)

    monkeypatch.setattr(owner, step, wrong)
    async with (
        open_memory_engine(tmp_path, options=EngineOptions(summary_cooldown=0.01)) as engine,
        asyncio.timeout(20),
    ):
        await engine.add(doc("a", "Ada met Bob."))
        while met[step] < 3 or engine._worker.step_error:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        await engine.wait_until_indexed()
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}
        assert sum(each.failures for each in engine.supervisor.list_reports()) == 2
        while engine.supervisor.list_problems():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def test_a_ledger_that_a_foreign_program_locks_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 50)
    monkeypatch.setattr(
        database,
        "PRAGMAS",
        tuple(re.sub(r"busy_timeout = \d+", "busy_timeout = 50", each) for each in database.PRAGMAS),
    )
    monkeypatch.setattr(worker, "ERROR_WAIT_SECONDS", 0.05)
    async with open_memory_engine(tmp_path) as engine, asyncio.timeout(30):
        await engine.add(doc("a", "Ada met Bob."))
        foreign = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        foreign.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another program"):
            await engine.wait_until_indexed()
        assert "locked by another program" in " ".join((await engine.get_status(HERE)).background)
        foreign.execute("ROLLBACK")
        foreign.close()
        while engine._worker.step_error:  # noqa: ASYNC110 - it goes away by itself
            await asyncio.sleep(0.01)
        await engine.wait_until_indexed()
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}


async def test_a_chunk_is_tried_as_often_as_the_options_say_and_then_given_up(tmp_path: Path) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = RateLimited("slow down")
    async with open_memory_engine(tmp_path, language, options=EngineOptions(max_attempts=1)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        [listed] = await engine.list_documents(HERE)
        assert (listed.status, listed.error) == ("searchable", "slow down")
        assert "quota" in listed.hint
    language.failing.clear()
    async with open_memory_engine(tmp_path, language) as engine:  # a new start tries again
        await engine.wait_until_indexed()
        assert [each.status for each in await engine.list_documents(HERE)] == ["indexed"]


async def test_a_model_out_of_reach_is_asked_for_one_chunk_at_a_time_and_none_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_step, "ERROR_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(extract_step, "retry_delay", lambda _: 0.0)
    language = ToyLanguage()
    language.failing["extract", ""] = ModelUnreachable("nobody is there")
    async with open_memory_engine(
        tmp_path, language, options=EngineOptions(max_attempts=1, extraction_concurrency=2)
    ) as engine:
        for number in range(9):
            await engine.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        await language.wait_for_calls("extract", 30)
        assert str(engine.indexing_error) == "nobody is there"
        assert engine.extraction_failures > 0
        assert await engine.count_pending_documents() > 0
        assert len(set(engine._worker._extract_step.running_calls)) <= 1
        assert {each.error for each in await engine.list_documents(HERE)} == {""}
        language.failing.clear()
        await asyncio.wait_for(engine.wait_until_indexed(), 20)
        assert engine.indexing_error is None
        assert await engine.count_pending_documents() == 0
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}


async def test_nobody_is_missed_once_nothing_is_left_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_step, "ERROR_WAIT_SECONDS", 0.1)
    language = ToyLanguage()
    language.failing["extract", ""] = ModelUnreachable("nobody is there")
    async with open_memory_engine(tmp_path, language) as engine, asyncio.timeout(20):
        await engine.add(doc("a", "Ada met Bob."))
        await language.wait_for_calls("extract", 1)
        while engine.indexing_error is None:  # noqa: ASYNC110 - it comes by itself
            await asyncio.sleep(0.01)
        await engine.forget("a")
        while engine.indexing_error is not None:  # noqa: ASYNC110 - it goes away by itself
            await asyncio.sleep(0.05)


async def test_a_chunk_that_can_wait_is_tried_again_later(tmp_path: Path) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = ModelUnavailable("away")
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await language.wait_for_calls("extract", 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.wait_until_indexed(), 0.3)
        async with sqlite_ledger(engine._ledger).read_connection() as db:
            [[tries, error]] = await db.execute_fetchall("SELECT tries, error FROM chunk")
        assert (tries, error) == (1, "away")
        assert (await engine.get_status(HERE)).unextracted == 1


@pytest.mark.parametrize("error", [ModelRefused("no"), EngineError("odd"), KeyError("bug")])
async def test_a_hopeless_chunk_is_given_up_at_once(tmp_path: Path, error: Exception) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = error
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        [listed] = await engine.list_documents(HERE)
        assert (listed.status, bool(listed.error), language.calls["extract"]) == ("searchable", True, 1)


async def test_chunks_of_several_documents_are_embedded_in_one_batch(tmp_path: Path) -> None:
    batches: list[int] = []

    class Counting(HashEmbedder):
        async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
            batches.append(len(texts))
            return await super().embed(texts, bill)

    async with open_memory_engine(tmp_path, embedder=Counting()) as engine:
        await asyncio.gather(*(engine.add(doc(f"d{n}", f"Ada met number {n}.")) for n in range(20)))
        await engine.wait_until_indexed()
    assert max(batches) >= 10


async def test_documents_that_come_one_after_another_are_embedded_together(tmp_path: Path) -> None:
    batches: list[int] = []

    class Counting(HashEmbedder):
        async def embed(self, texts: Sequence[str], bill: UsageMeter) -> np.ndarray:
            batches.append(sum("number" in text for text in texts))
            return await super().embed(texts, bill)

    async with open_memory_engine(tmp_path, embedder=Counting()) as engine:
        since = time.monotonic()
        for number in range(20):
            await engine.add(doc(f"d{number}", f"ada met number {number}."))
            await asyncio.sleep(0.02)
        spent = time.monotonic() - since
        await engine.wait_until_indexed()
    made = [each for each in batches if each]
    assert sum(made) == 20
    assert len(made) <= 3 + spent / worker.BATCH_INTERVAL_SECONDS["embed"]


async def test_what_is_told_of_documents_that_come_one_after_another_is_projected_together(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        steps = Steps(engine)
        since = time.monotonic()
        for number in range(20):
            await engine.add(doc(f"d{number}", f"Ada met Bob {number} times."))
            await asyncio.sleep(0.05)
        spent = time.monotonic() - since
        assert steps.batches <= 2 + spent / worker.BATCH_INTERVAL_SECONDS["project"]
        await engine.wait_until_indexed()
        assert steps.batches >= 2


async def test_a_question_for_which_the_engine_was_opened_comes_before_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine._worker.stop()
        await engine.describe("here", "Ada", "She sings.")
    monkeypatch.setattr(worker, "STARTUP_GRACE_SECONDS", 20.0)
    async with open_memory_engine(tmp_path) as engine:
        steps = Steps(engine)
        assert (await engine.retrieve(Question("Ada", HERE))).entities
        assert steps.batches == 0
        async with asyncio.timeout(10):
            await engine.wait_until_indexed()
        assert steps.batches == 1


async def test_batches_are_short_while_questions_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projecting, "FOREGROUND_BATCH_SIZE", 1)
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine._worker.stop()
        await engine.describe("here", "Ada", "One.")
        await engine.describe("here", "Bob", "Two.")
        await engine.retrieve(Question("Ada", HERE))
        assert await engine._projector.step() is NextStep.CONTINUE
        assert len(engine._projector._delivering_keys) == 1


async def indexed(engine: Engine, count: int) -> None:
    """Return once there are so many documents and all of them are indexed; nobody hurries the engine for it."""
    async with asyncio.timeout(20):
        while [each.status for each in await engine.list_documents(HERE)] != ["indexed"] * count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_an_engine_stops_while_it_lets_documents_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 60.0, "project": 60.0})
    async with asyncio.timeout(20):
        async with open_memory_engine(tmp_path) as engine:
            await engine.add(doc("a", "Ada met Bob."))
            await indexed(engine, 1)


async def test_whoever_wants_forgotten_words_gone_waits_for_no_other_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 60.0, "project": 60.0})
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await indexed(engine, 1)
        await engine.forget("a")
        async with asyncio.timeout(20):
            await engine.compact()
        assert (await engine.verify()).is_clean


async def test_while_documents_are_read_even_who_waits_for_the_end_lets_them_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH_INTERVAL_SECONDS", {"embed": 60.0, "project": 60.0})
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await indexed(engine, 1)
        language.gate.clear()
        await engine.add(doc("b", "Ada met Carl."))
        await language.wait_for_calls("extract", 2)
        settling = asyncio.create_task(engine.wait_until_indexed())
        await asyncio.sleep(0.1)
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed", "pending"}
        language.gate.set()
        async with asyncio.timeout(20):
            await settling
        await indexed(engine, 2)


async def test_the_graph_is_trusted_again_once_all_that_was_stale_is_in_it_though_more_keeps_coming(
    tmp_path: Path,
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine._worker.stop()
        projector = engine._projector
        projector.graph_uncertain = True
        await projector.end_cooldown()
        await engine.describe("here", "Ada", "One.")
        assert await projector.step() is NextStep.GATHER
        assert projector.graph_uncertain
        assert projector.cooldown_ended
        await engine.describe("here", "Ada", "Two.")
        await engine.describe("here", "Bob", "Three.")
        assert await projector.step() is NextStep.GATHER
        assert not projector.graph_uncertain
        assert not projector.cooldown_ended


async def test_a_batch_that_left_something_behind_does_not_make_the_graph_trusted(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path, options=EngineOptions(projection_batch_size=1)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine._worker.stop()
        projector = engine._projector
        projector.graph_uncertain = True
        await engine.describe("here", "Ada", "One.")
        await engine.describe("here", "Bob", "Two.")
        assert await projector.step() is NextStep.CONTINUE
        assert await projector.step() is NextStep.CONTINUE
        assert projector.graph_uncertain


async def test_a_graph_that_could_not_be_written_is_not_trusted_until_all_of_it_was_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise StoreError("the disk is away")

    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine._worker.stop()
        projector = engine._projector
        await engine.describe("here", "Ada", "One.")
        with monkeypatch.context() as patch:
            patch.setattr(engine._runtime.graph, "upsert", broken)
            assert await projector.step() is NextStep.GATHER
            with pytest.raises(StoreError, match="away"):
                await projector.step()
        assert projector.graph_uncertain
        assert await projector.step() is NextStep.GATHER
        assert await projector.step() is NextStep.CONTINUE
        assert not projector.graph_uncertain
        assert (await engine.verify()).is_clean


async def test_a_long_chunk_has_several_vectors_and_is_found_by_any_of_them(tmp_path: Path) -> None:
    embedder = HashEmbedder(max_tokens=40)
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", " ".join(f"word{n}" for n in range(60))))
        await engine.wait_until_indexed()
        rows = await engine._runtime.vectors.list_rows("chunks")
        assert len({row.id for row in rows}) == 1
        assert [row.part for row in rows] == list(range(len(rows)))
        assert len(rows) > 2
        assert (await engine.verify()).is_clean


async def test_a_hot_key_is_summarised_once_a_quiet_period_unless_somebody_waits(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with open_memory_engine(tmp_path, language, options=EngineOptions(summary_cooldown=3600)) as engine:
        await engine.add(doc("a", "\n".join(f"Ada did {n}." for n in range(10))))
        await engine.wait_until_indexed()
        assert language.calls["summarise"] == 1
        for n in range(3):
            await engine.add(doc(f"more {n}", f"Ada did more {n}."))
            await language.wait_for_calls("extract", 2 + n)
        await engine.wait_until_indexed()
        assert 2 <= language.calls["summarise"] <= 4
        ada = await engine.get_entity("Ada", HERE)
        assert ada is not None
        assert "13 parts" in ada.description


@pytest.mark.parametrize("error", [asyncio.CancelledError(), GeneratorExit(), Panic()])
@pytest.mark.parametrize(("purpose", "shared"), [("extract", 0), ("extract", 4000), ("summarise", 0)])
async def test_what_a_model_raises_that_is_no_exception_is_a_failure_that_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, purpose: Purpose, shared: int, error: BaseException
) -> None:
    monkeypatch.setattr(extract_step, "retry_delay", lambda _: 0.05)
    language = ToyLanguage()
    language.batch_token_limit = shared
    language.failing[purpose, "Ada"] = error
    async with (
        open_memory_engine(
            tmp_path, language, options=EngineOptions(extraction_linger=0.05, summary_cooldown=0.1)
        ) as engine,
        asyncio.timeout(30),
    ):
        await engine.add(doc("a", *(f"Ada met Bob {'very ' * 300} in case {number}." for number in range(9))))
        await engine.add(doc("b", "Carl met Dora."))
        await language.wait_for_calls(
            purpose, 2 if purpose == "extract" else 1
        )  # a summary is made again after minutes
        language.failing.clear()
        await engine.wait_until_indexed()
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}
        assert (await engine.get_status(HERE)).background == ()
