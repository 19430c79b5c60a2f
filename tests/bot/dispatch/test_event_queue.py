"""The event queue: events are stored before they are handled, each once, and none is lost."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.dispatch import event_queue as module
from bot.dispatch.event_queue import EventQueue
from bot.errors import NotConnected, PlatformError, PlatformUnavailable
from bot.platform.events import ButtonPressed, MessageReceived, PlatformEvent, QuestionAsked, WorkspaceLeft
from bot.platform.models import Upload
from bot.store import BotStore
from bot.store.event_queue import EventClaim, NewEvent, QueuedEvent
from engine.clock import SYSTEM_CLOCK
from engine.errors import SERVER_ERRORS, DiskError
from engine.scheduling.supervisor import Supervisor
from tests.support.builders import ROOF, make_message
from tests.support.clock import ManualClock
from tests.support.engine_fixture import find_files_containing
from tests.support.fake_platform import START
from tests.support.patience import PATIENCE

BUG: Exception = RuntimeError("a bug")
UNAVAILABLE = PlatformUnavailable("Slack was not reached: X.")
at_once = pytest.mark.usefixtures("_short_delays")


def event(id_: str = "1", text: str = "Hello.") -> MessageReceived:
    return MessageReceived(
        make_message(id_, text, uploads=(Upload("F1", "a.txt", 3, "text/plain", "https://x"),)), False
    )


def name(event: PlatformEvent) -> str:
    return event.message.id if isinstance(event, MessageReceived) else type(event).__name__


class RecordingWorker:
    """Records the events that it is given; `failing` and `gates` by step and name (“ingest 1”)."""

    def __init__(self) -> None:
        self.ingested: list[PlatformEvent] = []
        self.processed: list[PlatformEvent] = []
        self.reporting: list[PlatformEvent] = []
        self.given_up: list[str] = []
        self.failing: dict[str, list[Exception]] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.ordered = True
        self.unserved: set[str] = set()
        self._updated = asyncio.Event()

    async def until(self, reached: Callable[[], object]) -> None:
        """Return once something holds; it is checked whenever something was done."""
        async with asyncio.timeout(PATIENCE):
            while not reached():
                self._updated.clear()
                await self._updated.wait()

    def serves(self, workspace: str) -> bool:
        return workspace not in self.unserved

    def ordering_key(self, event: PlatformEvent) -> str:
        return "roof" if self.ordered and isinstance(event, MessageReceived) else ""

    async def ingest(self, event: PlatformEvent) -> None:
        await self._pass(f"ingest {name(event)}")
        self.ingested.append(event)

    async def process(self, event: PlatformEvent) -> None:
        await self._pass(f"process {name(event)}")
        self.processed.append(event)
        self._updated.set()

    async def handle_failure(self, event: PlatformEvent, error: Exception) -> None:
        self.reporting.append(event)
        await self._pass(f"report {name(event)}")
        self.given_up.append(f"{name(event)} {type(error).__name__}")
        self._updated.set()

    async def _pass(self, step: str) -> None:
        self._updated.set()
        if gate := self.gates.get(step):
            await gate.wait()
        self._updated.set()
        if self.failing.get(step):
            raise self.failing[step].pop(0)


@pytest.fixture
def worker() -> RecordingWorker:
    return RecordingWorker()


@pytest.fixture
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(module, "MAX_DELAY", 0.01)


async def list_waiting(store: BotStore) -> list[QueuedEvent]:
    """The events that are not handled, whenever they are due."""
    claim = EventClaim(await store.event_queue.list_workspaces(), [], 100, 100, math.inf)
    return await store.event_queue.claim(claim)


async def kill(queue: EventQueue) -> None:
    """End the tasks of a queue as if the process were killed."""
    for task in [*queue._tasks, queue._poll_task]:
        task.cancel()


async def test_events_come_back_as_they_were(store: BotStore, worker: RecordingWorker) -> None:
    events: list[PlatformEvent] = [
        event(),
        QuestionAsked("q1", ROOF, "ada", "Who?", START, private=False, mode="naive", handle="h"),
        ButtonPressed("c1", ROOF, "ada", "up", "a1"),
        WorkspaceLeft("slack", "T1", "uninstalled"),
    ]
    worker.ordered = False
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        for number, each in enumerate(events):
            assert await queue.enqueue(each, f"key {number}")
        await queue.wait_until_idle()
    assert sorted(worker.processed, key=name) == sorted(events, key=name)


async def test_halves_of_characters_are_replaced(store: BotStore, worker: RecordingWorker) -> None:
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        assert [await queue.enqueue(event("1", "Hello \ud83d."), "event:\ud83d") for _ in range(2)] == [True, False]
        await queue.wait_until_idle()
    assert worker.processed == [event("1", "Hello \ufffd.")]


async def test_an_event_is_handled_once_however_often_and_by_whichever_key_it_comes(
    store: BotStore, worker: RecordingWorker
) -> None:
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        accepted = await asyncio.gather(*(queue.enqueue(event(), f"event:{n}", "message:1") for n in range(20)))
        assert Counter(accepted) == {True: 1, False: 19}
        assert not await queue.enqueue(event(), "event:2")
        await queue.wait_until_idle()
        assert not await queue.enqueue(event(), "event:1")
    assert (len(worker.ingested), len(worker.processed)) == (1, 1)


async def test_the_text_is_deleted_once_the_event_is_handled(
    store: BotStore, worker: RecordingWorker, tmp_path: Path
) -> None:
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        await queue.enqueue(event("1", "swordfish"), "event:1")
        await queue.wait_until_idle()
    await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []


async def test_events_of_a_key_are_ingested_in_order_while_answers_take_their_time(
    store: BotStore, worker: RecordingWorker
) -> None:
    worker.gates["process 0"] = asyncio.Event()
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        for number in range(5):
            await queue.enqueue(event(str(number)), f"event:{number}")
        await worker.until(lambda: len(worker.processed) == 4)
        assert [name(platform_event) for platform_event in worker.ingested] == list("01234")
        assert await queue.depth() >= 1
        worker.gates["process 0"].set()
        await queue.wait_until_idle()
        assert await queue.depth() == 0


@at_once
@pytest.mark.parametrize("step", ["process", "report"])
async def test_what_was_not_finished_is_done_after_a_restart(
    store: BotStore, worker: RecordingWorker, step: str
) -> None:
    after = RecordingWorker()
    if step == "report":
        for each in (worker, after):
            each.failing["process 1"] = [BUG] * module.MAX_BUG_ATTEMPTS
    worker.gates[f"{step} 1"] = asyncio.Event()
    queue = EventQueue(store, worker, SYSTEM_CLOCK)
    await queue.__aenter__()
    await queue.enqueue(event(), "event:1")
    await worker.until(lambda: worker.reporting if step == "report" else worker.ingested)
    await kill(queue)
    async with EventQueue(store, after, SYSTEM_CLOCK) as again:
        await after.until(lambda: after.given_up or after.processed)
        await again.wait_until_idle()
    expected = ([], ["1 RuntimeError"]) if step == "report" else ([event()], [])
    assert (after.processed, after.given_up) == expected
    assert await list_waiting(store) == []


async def test_what_is_under_way_is_finished_before_the_end(store: BotStore, worker: RecordingWorker) -> None:
    worker.gates["process 1"] = asyncio.Event()
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        await queue.enqueue(event(), "event:1")
        await worker.until(lambda: worker.ingested)
        asyncio.get_running_loop().call_later(0.05, worker.gates["process 1"].set)
    assert worker.processed == [event()]
    assert await store.event_queue.count_waiting() == 0


@at_once
async def test_a_failing_event_is_tried_again_and_delays_no_other(store: BotStore, worker: RecordingWorker) -> None:
    worker.failing["ingest 1"] = [BUG, OSError("gone"), PlatformError("busy")]
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        for id_ in ("1", "2"):
            await queue.enqueue(event(id_), f"event:{id_}")
        await worker.until(lambda: len(worker.processed) == 2)
        await queue.wait_until_idle()
    assert [name(platform_event) for platform_event in worker.ingested] == ["2", "1"]
    assert worker.given_up == []


@pytest.mark.share(3)
@at_once
@pytest.mark.parametrize("step", ["ingest", "process"])
@pytest.mark.parametrize(
    "error",
    [
        *(UNAVAILABLE, DiskError("Full."), ConnectionResetError(), NotConnected("Not yet.")),
        *(error("No.") for error in SERVER_ERRORS),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_passes_by_itself_is_never_given_up_and_counts_as_no_attempt(
    store: BotStore, worker: RecordingWorker, error: Exception, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNCONNECTED_DELAY", 0.0)
    worker.failing[f"{step} 1"] = [*[error] * (3 * module.MAX_ATTEMPTS), BUG]
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        await queue.enqueue(event())
        await worker.until(lambda: worker.processed)
        await queue.wait_until_idle()
        assert await queue.limitations() == []
    assert worker.given_up == []


async def test_what_waits_for_a_platform_is_reported_and_tried_at_once_when_it_is_back(
    store: BotStore, worker: RecordingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY", 300.0)
    worker.failing["process 1"] = [UNAVAILABLE] * 2
    supervisor, clock = Supervisor(SYSTEM_CLOCK), ManualClock()
    async with EventQueue(store, worker, clock, supervisor) as queue:
        await queue.enqueue(event(), "event:1")
        await worker.until(lambda: len(worker.failing["process 1"]) == 1)
        await queue.enqueue(event("2"), "event:2")  # the others are handled meanwhile
        await worker.until(lambda: worker.processed)
        await queue.wait_until_idle()
        waiting = f"Events of slack that failed and are being retried: 1. {UNAVAILABLE}"
        assert supervisor.list_problems() == [waiting]
        [row] = await list_waiting(store)
        assert (row.attempts, row.due_at) == (0, clock.time() + 300.0)
        for left in (True, False):
            queue.retry_now()
            await worker.until(lambda: len(worker.processed) == 2 if not left else not worker.failing["process 1"])  # noqa: B023
            await queue.wait_until_idle()
            assert bool(supervisor.list_problems()) is left


@at_once
async def test_what_is_given_up_is_reported_and_recorded_by_the_class_of_the_error_alone(
    store: BotStore, worker: RecordingWorker, tmp_path: Path
) -> None:
    worker.failing["process 1"] = [RuntimeError("swordfish")] * module.MAX_BUG_ATTEMPTS
    worker.failing["process 2"] = [PlatformError("swordfish")] * module.MAX_ATTEMPTS
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        for id_ in ("1", "2"):
            await queue.enqueue(event(id_, "swordfish"), f"event:{id_}")
        await worker.until(lambda: len(worker.given_up) == 2)
        await queue.wait_until_idle()
        assert not await queue.enqueue(event(), "event:1")
        [sentence] = await queue.limitations()
        assert "1 for PlatformError" in sentence
    assert sorted(worker.given_up) == ["1 RuntimeError", "2 PlatformError"]
    assert await list_waiting(store) == []
    await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []


@at_once
async def test_an_event_that_cannot_even_be_given_up_delays_none_behind_it(
    store: BotStore, worker: RecordingWorker
) -> None:
    worker.failing |= {"ingest 1": [BUG] * module.MAX_BUG_ATTEMPTS, "report 1": [RuntimeError("another")]}
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        await queue.enqueue(event(), "event:1")
        await worker.until(lambda: not worker.failing["report 1"])
        await queue.wait_until_idle()
        await queue.enqueue(event("2"), "event:2")
        await worker.until(lambda: worker.processed)
    assert worker.processed == [event("2")]


async def test_a_later_attempt_is_remembered_over_a_restart(store: BotStore, worker: RecordingWorker) -> None:
    worker.failing["ingest 1"] = [PlatformError("busy")]
    clock = ManualClock()
    async with EventQueue(store, worker, clock) as queue:
        await queue.enqueue(event(), "event:1")
        await queue.wait_until_idle()
    [row] = await list_waiting(store)
    assert (row.attempts, row.due_at) == (1, clock.time() + module.FIRST_DELAY)


async def test_keys_are_kept_for_two_days(store: BotStore) -> None:
    queue = store.event_queue
    assert await queue.enqueue(NewEvent("Heard", "{}"), ["event:1"], 1000.0)
    await queue.finish(1)
    assert await queue.enqueue(NewEvent("Heard", "{}"), ["event:2"], 1000.0)
    for now, known in ((1000.0, True), (1000.1, False)):
        await queue.prune(now)
        assert await queue.enqueue(NewEvent("Heard", "{}"), ["event:1"], 1000.0) is not known
    assert not await queue.enqueue(NewEvent("Heard", "{}"), ["event:2"], 1000.0)


async def test_an_event_that_cannot_be_parsed_delays_no_other(store: BotStore, worker: RecordingWorker) -> None:
    for number, (kind, payload) in enumerate((("Sneezed", "{}"), ("Heard", '{"message": 1}'))):
        await store.event_queue.enqueue(NewEvent(kind, payload), [f"key {number}"], 0.0)
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        await queue.enqueue(event(), "event:3")
        await queue.wait_until_idle()
    assert worker.processed == [event()]
    assert await list_waiting(store) == []


@at_once
async def test_events_of_a_key_go_on_though_a_failure_could_not_be_written(
    store: BotStore, worker: RecordingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(store.event_queue, "delay", fail)
    worker.failing["ingest 1"] = [PlatformError("away")]
    async with EventQueue(store, worker, SYSTEM_CLOCK) as queue:
        await queue.enqueue(event(), "event:1")
        await worker.until(lambda: not worker.failing["ingest 1"])
        await queue.enqueue(event("2"), "event:2")
        await worker.until(lambda: {name(platform_event) for platform_event in worker.processed} == {"1", "2"})


async def test_the_queue_is_read_on_after_an_unforeseen_error(
    store: BotStore, worker: RecordingWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_workspaces, failures = store.event_queue.list_workspaces, [ConnectionResetError(), ConnectionResetError()]

    async def fail_twice() -> list[str]:
        if failures:
            raise failures.pop()
        return await list_workspaces()

    monkeypatch.setattr(store.event_queue, "list_workspaces", fail_twice)
    supervisor = Supervisor(SYSTEM_CLOCK, first_wait=0.01)
    async with EventQueue(store, worker, SYSTEM_CLOCK, supervisor) as queue:
        await queue.enqueue(event(), "event:1")
        await worker.until(lambda: worker.processed)
        assert queue.is_running
    assert [report.failures for report in supervisor.list_reports() if report.name == "event queue"] == [2]
