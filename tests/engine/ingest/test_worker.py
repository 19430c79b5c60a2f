from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import EngineError, RateLimited, Refused, StoreError, Unavailable, Unreachable
from engine.ingest import extract_step, worker
from engine.ingest.extract_step import wait_before
from engine.ingest.worker import Worker
from engine.models import Question
from engine.options import Options
from engine.projection import projector as projecting
from engine.projection.batch import write_profiles
from engine.projection.projector import Projector
from engine.scheduling import supervisor
from engine.scheduling.batch_gate import Then
from engine.storage.ledger import database
from tests.support.embedder import HashEmbedder
from tests.support.engines import HERE, doc, light_engine
from tests.support.language import ToyLanguage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from engine import Engine
    from engine.usage import Bill, Purpose


class Steps:
    """Counts the batches that an engine projects."""

    def __init__(self, engine: Engine) -> None:
        self.batches = 0
        self._write = engine._ledger.write
        engine._ledger.write = self._counted  # type: ignore[method-assign]

    async def _counted(self, work: Any, *given: Any, **named: Any) -> Any:
        self.batches += work is write_profiles
        return await self._write(work, *given, **named)


def test_the_wait_before_another_try_doubles_up_to_ten_minutes() -> None:
    assert [wait_before(tries) for tries in (0, 1, 2, 6, 7, 50)] == [5.0, 10.0, 20.0, 320.0, 600.0, 600.0]


async def test_settled_raises_what_keeps_the_worker_from_it_and_goes_on_once_it_is_over(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    embedder.failing[""] = Unavailable("the embedder is away")
    async with light_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        for _ in range(2):
            with pytest.raises(Unavailable, match="away"):
                await asyncio.wait_for(engine.settled(), 5)
        assert {each.status for each in await engine.documents(HERE)} == {"pending"}
        embedder.failing.clear()
        async with asyncio.timeout(20):
            while engine._worker.trouble:  # noqa: ASYNC110 - it goes away by itself
                await asyncio.sleep(0.05)
        await engine.settled()
        assert {each.status for each in await engine.documents(HERE)} == {"indexed"}


class Panic(BaseException):
    """What a native library raises when it panics."""


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("_embed", Panic()),
        ("_embed", asyncio.CancelledError()),
        ("_embed", sqlite3.OperationalError("odd")),
        ("_read", KeyError("bug")),
        ("_read", asyncio.CancelledError()),
        ("_project", ConnectionResetError()),
        ("_project", asyncio.CancelledError()),
        ("end_quiet", KeyError("bug")),
    ],
)
async def test_a_step_that_meets_what_was_not_foreseen_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(worker, "SHORTEST_QUIET", 0.01)
    owner = Projector if step == "end_quiet" else Worker
    met, right = Counter[str](), getattr(owner, step)

    async def wrong(self: Any) -> Any:
        met[step] += 1
        if met[step] < 3:
            raise error
        return await right(self)

    monkeypatch.setattr(owner, step, wrong)
    async with light_engine(tmp_path, options=Options(quiet=0.01)) as engine, asyncio.timeout(20):
        await engine.add(doc("a", "Ada met Bob."))
        while met[step] < 3 or engine._worker.trouble:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        await engine.settled()
        assert {each.status for each in await engine.documents(HERE)} == {"indexed"}
        assert sum(each.failures for each in engine.supervisor.reports()) == 2
        while engine.supervisor.complaints():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def test_a_ledger_that_a_foreign_program_locks_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY", 50)
    monkeypatch.setattr(
        database,
        "PRAGMAS",
        tuple(re.sub(r"busy_timeout = \d+", "busy_timeout = 50", each) for each in database.PRAGMAS),
    )
    monkeypatch.setattr(worker, "TROUBLE_WAIT", 0.05)
    async with light_engine(tmp_path) as engine, asyncio.timeout(30):
        await engine.add(doc("a", "Ada met Bob."))
        foreign = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        foreign.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked by another program"):
            await engine.settled()
        assert "locked by another program" in " ".join((await engine.status(HERE)).background)
        foreign.execute("ROLLBACK")
        foreign.close()
        while engine._worker.trouble:  # noqa: ASYNC110 - it goes away by itself
            await asyncio.sleep(0.01)
        await engine.settled()
        assert {each.status for each in await engine.documents(HERE)} == {"indexed"}


async def test_a_chunk_is_tried_as_often_as_the_options_say_and_then_given_up(tmp_path: Path) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = RateLimited("slow down")
    async with light_engine(tmp_path, language, options=Options(attempts=1)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        [listed] = await engine.documents(HERE)
        assert (listed.status, listed.error) == ("searchable", "slow down")
        assert "quota" in listed.hint
    language.failing.clear()
    async with light_engine(tmp_path, language) as engine:  # a new start tries again
        await engine.settled()
        assert [each.status for each in await engine.documents(HERE)] == ["indexed"]


async def test_a_model_out_of_reach_is_asked_for_one_chunk_at_a_time_and_none_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract_step, "TROUBLE_WAIT", 0.0)
    monkeypatch.setattr(extract_step, "wait_before", lambda _: 0.0)
    language = ToyLanguage()
    language.failing["extract", ""] = Unreachable("nobody is there")
    async with light_engine(tmp_path, language, options=Options(attempts=1, readers=2)) as engine:
        for number in range(9):
            await engine.add(doc(f"d{number}", f"Ada met Bob {number} times."))
        await language.asked("extract", 30)
        assert str(engine.hindrance) == "nobody is there"
        assert len(set(engine._worker._reader.running)) <= 1
        assert {each.error for each in await engine.documents(HERE)} == {""}
        language.failing.clear()
        await asyncio.wait_for(engine.settled(), 20)
        assert engine.hindrance is None
        assert {each.status for each in await engine.documents(HERE)} == {"indexed"}


async def test_nobody_is_missed_once_nothing_is_left_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract_step, "TROUBLE_WAIT", 0.1)
    language = ToyLanguage()
    language.failing["extract", ""] = Unreachable("nobody is there")
    async with light_engine(tmp_path, language) as engine, asyncio.timeout(20):
        await engine.add(doc("a", "Ada met Bob."))
        await language.asked("extract", 1)
        while engine.hindrance is None:  # noqa: ASYNC110 - it comes by itself
            await asyncio.sleep(0.01)
        await engine.forget("a")
        while engine.hindrance is not None:  # noqa: ASYNC110 - it goes away by itself
            await asyncio.sleep(0.05)


async def test_a_chunk_that_can_wait_is_tried_again_later(tmp_path: Path) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = Unavailable("away")
    async with light_engine(tmp_path, language) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await language.asked("extract", 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(engine.settled(), 0.3)
        async with engine._ledger.reader() as db:
            [[tries, error]] = await db.execute_fetchall("SELECT tries, error FROM chunk")
        assert (tries, error) == (1, "away")
        assert (await engine.status(HERE)).unread == 1


@pytest.mark.parametrize("error", [Refused("no"), EngineError("odd"), KeyError("bug")])
async def test_a_hopeless_chunk_is_given_up_at_once(tmp_path: Path, error: Exception) -> None:
    language = ToyLanguage()
    language.failing["extract", "Ada"] = error
    async with light_engine(tmp_path, language) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        [listed] = await engine.documents(HERE)
        assert (listed.status, bool(listed.error), language.calls["extract"]) == ("searchable", True, 1)


async def test_chunks_of_several_documents_are_embedded_in_one_batch(tmp_path: Path) -> None:
    batches: list[int] = []

    class Counting(HashEmbedder):
        async def embed(self, texts: Sequence[str], bill: Bill) -> np.ndarray:
            batches.append(len(texts))
            return await super().embed(texts, bill)

    async with light_engine(tmp_path, embedder=Counting()) as engine:
        await asyncio.gather(*(engine.add(doc(f"d{n}", f"Ada met number {n}.")) for n in range(20)))
        await engine.settled()
    assert max(batches) >= 10


async def test_documents_that_come_one_after_another_are_embedded_together(tmp_path: Path) -> None:
    batches: list[int] = []

    class Counting(HashEmbedder):
        async def embed(self, texts: Sequence[str], bill: Bill) -> np.ndarray:
            batches.append(sum("number" in text for text in texts))
            return await super().embed(texts, bill)

    async with light_engine(tmp_path, embedder=Counting()) as engine:
        since = time.monotonic()
        for number in range(20):
            await engine.add(doc(f"d{number}", f"ada met number {number}."))
            await asyncio.sleep(0.02)
        spent = time.monotonic() - since
        await engine.settled()
    made = [each for each in batches if each]
    assert sum(made) == 20
    assert len(made) <= 3 + spent / worker.PACE["embed"]


async def test_what_is_told_of_documents_that_come_one_after_another_is_projected_together(tmp_path: Path) -> None:
    async with light_engine(tmp_path) as engine:
        steps = Steps(engine)
        since = time.monotonic()
        for number in range(20):
            await engine.add(doc(f"d{number}", f"Ada met Bob {number} times."))
            await asyncio.sleep(0.05)
        spent = time.monotonic() - since
        assert steps.batches <= 2 + spent / worker.PACE["project"]
        await engine.settled()
        assert steps.batches >= 2


async def test_a_question_for_which_the_engine_was_opened_comes_before_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        await engine._worker.stop()
        await engine.pin("here", "Ada", "She sings.")
    monkeypatch.setattr(worker, "GRACE", 20.0)
    async with light_engine(tmp_path) as engine:
        steps = Steps(engine)
        assert (await engine.recall(Question("Ada", HERE))).entities
        assert steps.batches == 0
        async with asyncio.timeout(10):
            await engine.settled()
        assert steps.batches == 1


async def test_batches_are_short_while_questions_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projecting, "SHORT_BATCH", 1)
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        await engine._worker.stop()
        await engine.pin("here", "Ada", "One.")
        await engine.pin("here", "Bob", "Two.")
        await engine.recall(Question("Ada", HERE))
        assert await engine._projector.step() is Then.GO_ON
        assert len(engine._projector._under_way) == 1


async def indexed(engine: Engine, count: int) -> None:
    """Return once there are so many documents and all of them are indexed; nobody hurries the engine for it."""
    async with asyncio.timeout(20):
        while [each.status for each in await engine.documents(HERE)] != ["indexed"] * count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_an_engine_stops_while_it_lets_documents_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PACE", {"embed": 60.0, "project": 60.0})
    async with asyncio.timeout(20):
        async with light_engine(tmp_path) as engine:
            await engine.add(doc("a", "Ada met Bob."))
            await indexed(engine, 1)


async def test_whoever_wants_forgotten_words_gone_waits_for_no_other_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PACE", {"embed": 60.0, "project": 60.0})
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await indexed(engine, 1)
        await engine.forget("a")
        async with asyncio.timeout(20):
            await engine.compact()
        assert (await engine.verify()).clean


async def test_while_documents_are_read_even_who_waits_for_the_end_lets_them_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PACE", {"embed": 60.0, "project": 60.0})
    language = ToyLanguage()
    async with light_engine(tmp_path, language) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await indexed(engine, 1)
        language.gate.clear()
        await engine.add(doc("b", "Ada met Carl."))
        await language.asked("extract", 2)
        settling = asyncio.create_task(engine.settled())
        await asyncio.sleep(0.1)
        assert {each.status for each in await engine.documents(HERE)} == {"indexed", "pending"}
        language.gate.set()
        async with asyncio.timeout(20):
            await settling
        await indexed(engine, 2)


async def test_the_graph_is_trusted_again_once_all_that_was_stale_is_in_it_though_more_keeps_coming(
    tmp_path: Path,
) -> None:
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        await engine._worker.stop()
        projector = engine._projector
        projector.unsure = True
        await projector.end_quiet()
        await engine.pin("here", "Ada", "One.")
        assert await projector.step() is Then.GATHER
        assert projector.unsure
        assert projector.ticked
        await engine.pin("here", "Ada", "Two.")
        await engine.pin("here", "Bob", "Three.")
        assert await projector.step() is Then.GATHER
        assert not projector.unsure
        assert not projector.ticked


async def test_a_batch_that_left_something_behind_does_not_make_the_graph_trusted(tmp_path: Path) -> None:
    async with light_engine(tmp_path, options=Options(project_batch=1)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        await engine._worker.stop()
        projector = engine._projector
        projector.unsure = True
        await engine.pin("here", "Ada", "One.")
        await engine.pin("here", "Bob", "Two.")
        assert await projector.step() is Then.GO_ON
        assert await projector.step() is Then.GO_ON
        assert projector.unsure


async def test_a_graph_that_could_not_be_written_is_not_trusted_until_all_of_it_was_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise StoreError("the disk is away")

    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        await engine._worker.stop()
        projector = engine._projector
        await engine.pin("here", "Ada", "One.")
        with monkeypatch.context() as patch:
            patch.setattr(engine._runtime.graph, "put", broken)
            assert await projector.step() is Then.GATHER
            with pytest.raises(StoreError, match="away"):
                await projector.step()
        assert projector.unsure
        assert await projector.step() is Then.GATHER
        assert await projector.step() is Then.GO_ON
        assert not projector.unsure
        assert (await engine.verify()).clean


async def test_a_long_chunk_has_several_vectors_and_is_found_by_any_of_them(tmp_path: Path) -> None:
    embedder = HashEmbedder(max_tokens=40)
    async with light_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(doc("a", " ".join(f"word{n}" for n in range(60))))
        await engine.settled()
        rows = await engine._runtime.vectors.everything("chunks")
        assert len({row.id for row in rows}) == 1
        assert [row.part for row in rows] == list(range(len(rows)))
        assert len(rows) > 2
        assert (await engine.verify()).clean


async def test_a_hot_key_is_summarised_once_a_quiet_period_unless_somebody_waits(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with light_engine(tmp_path, language, options=Options(quiet=3600)) as engine:
        await engine.add(doc("a", "\n".join(f"Ada did {n}." for n in range(10))))
        await engine.settled()
        assert language.calls["summarise"] == 1
        for n in range(3):
            await engine.add(doc(f"more {n}", f"Ada did more {n}."))
            await language.asked("extract", 2 + n)
        await engine.settled()
        assert 2 <= language.calls["summarise"] <= 4
        ada = await engine.entity("Ada", HERE)
        assert ada is not None
        assert "13 parts" in ada.description


@pytest.mark.parametrize("error", [asyncio.CancelledError(), GeneratorExit(), Panic()])
@pytest.mark.parametrize(("purpose", "shared"), [("extract", 0), ("extract", 4000), ("summarise", 0)])
async def test_what_a_model_raises_that_is_no_exception_is_a_failure_that_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, purpose: Purpose, shared: int, error: BaseException
) -> None:
    monkeypatch.setattr(extract_step, "wait_before", lambda _: 0.05)
    language = ToyLanguage()
    language.shared_tokens = shared
    language.failing[purpose, "Ada"] = error
    async with light_engine(tmp_path, language, options=Options(linger=0.05, quiet=0.1)) as engine, asyncio.timeout(30):
        await engine.add(doc("a", *(f"Ada met Bob {'very ' * 300} in case {number}." for number in range(9))))
        await engine.add(doc("b", "Carl met Dora."))
        await language.asked(purpose, 2 if purpose == "extract" else 1)  # a summary is made again after minutes
        language.failing.clear()
        await engine.settled()
        assert {each.status for each in await engine.documents(HERE)} == {"indexed"}
        assert (await engine.status(HERE)).background == ()
