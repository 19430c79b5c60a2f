"""The inbox: stored before it is worked on, once however often it is told, and not lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from bot.dispatch import event_queue as module
from bot.dispatch.event_queue import EventQueue
from bot.errors import NotConnected, PlatformError, PlatformUnavailable
from bot.platform.events import ButtonPressed, MessageReceived, PlatformEvent, QuestionAsked, WorkspaceLeft
from bot.platform.models import Location, Message, Upload
from bot.store import BotStore
from engine.errors import DiskError
from engine.scheduling.supervisor import Supervisor
from tests.support.engine_fixture import find_files_containing
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

ROOF = Location("slack", "T1", "ROOF")


def heard(id_: str, text: str = "Hello.") -> MessageReceived:
    return MessageReceived(
        Message(id_, ROOF, "ada", text, START, (Upload("F1", "a.txt", 3, "text/plain", "https://x"),)), False
    )


class Recorder:
    """Notes what it is given; `failing` by message or kind, as often as the list is long."""

    def __init__(self) -> None:
        self.listened: list[PlatformEvent] = []
        self.followed: list[PlatformEvent] = []
        self.telling: list[PlatformEvent] = []
        self.given_up: list[str] = []
        self.failing: dict[str, list[Exception]] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.lanes = True
        self.news = asyncio.Event()

    async def until(self, reached: Callable[[], object]) -> None:
        """Return once something holds; it is looked at whenever something was done."""
        async with asyncio.timeout(10):
            while not reached():
                self.news.clear()
                await self.news.wait()

    def ordering_key(self, happening: PlatformEvent) -> str:
        return "roof" if self.lanes and isinstance(happening, MessageReceived) else ""

    async def ingest(self, happening: PlatformEvent) -> None:
        self._fail(f"listen {name(happening)}")
        self.listened.append(happening)
        self.news.set()

    async def process(self, happening: PlatformEvent) -> None:
        if gate := self.gates.get(name(happening)):
            await gate.wait()
        self._fail(f"follow {name(happening)}")
        self.followed.append(happening)
        self.news.set()

    async def handle_failure(self, happening: PlatformEvent, error: Exception) -> None:
        self.telling.append(happening)
        self.news.set()
        if gate := self.gates.get(f"give up {name(happening)}"):
            await gate.wait()
        self._fail(f"give up {name(happening)}")
        self.given_up.append(f"{name(happening)} {type(error).__name__}")
        self.news.set()

    def _fail(self, what: str) -> None:
        self.news.set()
        if self.failing.get(what):
            raise self.failing[what].pop(0)


def name(happening: PlatformEvent) -> str:
    return happening.message.id if isinstance(happening, MessageReceived) else type(happening).__name__


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def worker() -> Recorder:
    return Recorder()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next try comes after a hundredth of a second."""
    monkeypatch.setattr(module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(module, "MAX_DELAY", 0.01)


async def test_a_happening_is_listened_to_and_then_followed(store: BotStore, worker: Recorder) -> None:
    async with EventQueue(store, worker) as inbox:
        assert await inbox.enqueue(heard("1"), "event:1")
        await inbox.wait_until_idle()
    assert (worker.listened, worker.followed) == ([heard("1")], [heard("1")])


async def test_every_kind_of_happening_comes_back_as_it_was(store: BotStore, worker: Recorder) -> None:
    told: list[PlatformEvent] = [
        QuestionAsked("q1", ROOF, "ada", "Who?", START, private=False, mode="naive", handle="h"),
        ButtonPressed("c1", ROOF, "ada", "up", "a1"),
        WorkspaceLeft("slack", "T1", "uninstalled"),
    ]
    worker.lanes = False
    async with EventQueue(store, worker) as inbox:
        for number, each in enumerate(told):
            await inbox.enqueue(each, f"key {number}")
        await inbox.wait_until_idle()
    assert sorted(worker.followed, key=name) == sorted(told, key=name)


async def test_half_characters_of_a_happening_are_replaced(store: BotStore, worker: Recorder) -> None:
    async with EventQueue(store, worker) as inbox:
        assert await inbox.enqueue(heard("1", "Hello \ud83d."), "event:\ud83d")
        assert not await inbox.enqueue(heard("1", "Hello \ud83d."), "event:\ud83d")
        await inbox.wait_until_idle()
    assert worker.followed == [heard("1", "Hello \ufffd.")]


async def test_a_happening_that_is_known_by_any_of_its_keys_is_dropped(store: BotStore, worker: Recorder) -> None:
    async with EventQueue(store, worker) as inbox:
        assert await inbox.enqueue(heard("1"), "event:1", "message:1")
        assert not await inbox.enqueue(heard("1"), "event:2", "message:1")
        assert not await inbox.enqueue(heard("1"), "event:2")
        await inbox.wait_until_idle()
        assert not await inbox.enqueue(heard("1"), "event:1")
    assert len(worker.followed) == 1


async def test_two_that_come_at_the_same_moment_are_one(store: BotStore, worker: Recorder) -> None:
    async with EventQueue(store, worker) as inbox:
        told = await asyncio.gather(*(inbox.enqueue(heard("1"), f"event:{n}", "message:1") for n in range(20)))
        await inbox.wait_until_idle()
    assert Counter(told) == {True: 1, False: 19}
    assert len(worker.followed) == 1


async def test_the_words_go_once_they_are_handled(store: BotStore, worker: Recorder, tmp_path: Path) -> None:
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1", "swordfish"), "event:1")
        await inbox.wait_until_idle()
    await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []


async def test_a_lane_is_listened_to_in_order_while_answers_take_their_time(store: BotStore, worker: Recorder) -> None:
    worker.gates["0"] = asyncio.Event()
    async with EventQueue(store, worker) as inbox:
        for number in range(5):
            await inbox.enqueue(heard(str(number)), f"event:{number}")
        await worker.until(lambda: len(worker.followed) == 4)
        assert [name(each) for each in worker.listened] == list("01234")
        assert await inbox.depth() >= 1
        worker.gates["0"].set()
        await inbox.wait_until_idle()
        assert await inbox.depth() == 0


async def test_what_was_not_finished_is_done_after_a_restart(store: BotStore, worker: Recorder) -> None:
    worker.gates["1"] = asyncio.Event()
    inbox = EventQueue(store, worker)
    await inbox.__aenter__()
    await inbox.enqueue(heard("1"), "event:1")
    await worker.until(lambda: worker.listened)
    for task in [*inbox._tasks, inbox._poll_task]:  # as if the process were killed
        task.cancel()
    after = Recorder()
    async with EventQueue(store, after) as again:
        await after.until(lambda: after.followed)
        await again.wait_until_idle()
    assert (after.listened, after.followed) == ([heard("1")], [heard("1")])


async def test_what_is_under_way_is_finished_before_the_end(store: BotStore, worker: Recorder) -> None:
    worker.gates["1"] = asyncio.Event()
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await worker.until(lambda: worker.listened)
        asyncio.get_running_loop().call_later(0.05, worker.gates["1"].set)
    assert worker.followed == [heard("1")]
    assert await store.event_queue.count_waiting() == 0


@pytest.mark.usefixtures("at_once")
async def test_what_fails_is_tried_again_and_hinders_nobody(store: BotStore, worker: Recorder) -> None:
    worker.failing["listen 1"] = [RuntimeError("a bug"), OSError("gone"), PlatformError("busy")]
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await inbox.enqueue(heard("2"), "event:2")
        await worker.until(lambda: len(worker.followed) == 2)
        await inbox.wait_until_idle()
    assert [name(each) for each in worker.listened] == ["2", "1"]
    assert worker.given_up == []


@pytest.mark.usefixtures("at_once")
async def test_what_waits_for_its_platform_is_never_given_up(
    store: BotStore, worker: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNCONNECTED_DELAY", 0.0)
    worker.failing["listen 1"] = [NotConnected("There is no connection yet.")] * (3 * module.MAX_ATTEMPTS)
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"))
        await worker.until(lambda: worker.followed)
    assert worker.given_up == []


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("where", ["listen", "follow"])
@pytest.mark.parametrize(
    "error",
    [
        PlatformUnavailable("Slack has trouble of its own: internal_error."),
        DiskError("Full."),
        ConnectionResetError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_passes_by_itself_is_never_given_up_and_counts_as_no_try(
    store: BotStore, worker: Recorder, error: Exception, where: str
) -> None:
    worker.failing[f"{where} 1"] = [error] * (3 * module.MAX_ATTEMPTS) + [RuntimeError("a bug")]
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"))
        await worker.until(lambda: worker.followed)
        await inbox.wait_until_idle()
        assert await inbox.limitations() == []
    assert worker.given_up == []


async def test_what_waits_for_a_platform_is_told_and_tried_at_once_when_that_is_back(
    store: BotStore, worker: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY", 300.0)
    worker.failing["follow 1"] = [PlatformUnavailable("Slack was not reached: X.")] * 2
    supervisor = Supervisor()
    async with EventQueue(store, worker, lambda: 1000.0, supervisor) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await worker.until(lambda: len(worker.failing["follow 1"]) == 1)
        await inbox.enqueue(heard("2"), "event:2")  # what can be worked on goes on meanwhile
        await worker.until(lambda: worker.followed)
        await inbox.wait_until_idle()
        assert supervisor.list_problems() == [
            "Events of slack that wait and are tried again: 1. Slack was not reached: X."
        ]
        [row] = await store.event_queue.list_waiting()
        assert (row.attempts, row.due_at) == (0, 1300.0)
        inbox.retry_now()
        await worker.until(lambda: not worker.failing["follow 1"])
        await inbox.wait_until_idle()
        assert supervisor.list_problems()
        inbox.retry_now()
        await worker.until(lambda: len(worker.followed) == 2)
        await inbox.wait_until_idle()
        assert supervisor.list_problems() == []


@pytest.mark.usefixtures("at_once")
async def test_what_was_given_up_is_told_to_whoever_runs_the_program(store: BotStore, worker: Recorder) -> None:
    worker.failing["follow 1"] = [PlatformError("refused")] * module.MAX_ATTEMPTS
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"))
        await worker.until(lambda: worker.given_up)
        await inbox.wait_until_idle()
        [sentence] = await inbox.limitations()
    assert "1 for PlatformError" in sentence


@pytest.mark.usefixtures("at_once")
async def test_what_fails_for_good_is_recorded_by_the_class_of_the_error_alone(
    store: BotStore, worker: Recorder, tmp_path: Path
) -> None:
    worker.failing["follow 1"] = [RuntimeError("swordfish")] * module.MAX_BUG_ATTEMPTS
    worker.failing["follow 2"] = [PlatformError("swordfish")] * module.MAX_ATTEMPTS
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1", "swordfish"), "event:1")
        await inbox.enqueue(heard("2", "swordfish"), "event:2")
        await worker.until(lambda: len(worker.given_up) == 2)
        await inbox.wait_until_idle()
        assert not await inbox.enqueue(heard("1"), "event:1")
    assert sorted(worker.given_up) == ["1 RuntimeError", "2 PlatformError"]
    assert await store.event_queue.list_waiting() == []
    await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []


@pytest.mark.usefixtures("at_once")
async def test_whoever_waits_is_told_even_if_the_process_ends_while_he_is(store: BotStore, worker: Recorder) -> None:
    worker.failing["follow 1"] = [RuntimeError("a bug")] * module.MAX_BUG_ATTEMPTS
    worker.gates["give up 1"] = asyncio.Event()
    inbox = EventQueue(store, worker)
    await inbox.__aenter__()
    await inbox.enqueue(heard("1"), "event:1")
    await worker.until(lambda: worker.telling)
    for task in [*inbox._tasks, inbox._poll_task]:  # as if the process were killed
        task.cancel()
    after = Recorder()
    after.failing["follow 1"] = [RuntimeError("a bug")] * module.MAX_BUG_ATTEMPTS
    async with EventQueue(store, after) as again:
        await after.until(lambda: after.given_up)
        await again.wait_until_idle()
    assert after.given_up == ["1 RuntimeError"]
    assert await store.event_queue.list_waiting() == []


@pytest.mark.usefixtures("at_once")
async def test_what_cannot_even_be_given_up_hinders_nothing_behind_it(store: BotStore, worker: Recorder) -> None:
    worker.failing["listen 1"] = [RuntimeError("a bug")] * module.MAX_BUG_ATTEMPTS
    worker.failing["give up 1"] = [RuntimeError("another")]
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await worker.until(lambda: not worker.failing["give up 1"])
        await inbox.wait_until_idle()
        await inbox.enqueue(heard("2"), "event:2")
        await worker.until(lambda: worker.followed)
    assert worker.followed == [heard("2")]


async def test_a_later_try_is_remembered_over_a_restart(store: BotStore, worker: Recorder) -> None:
    now = 1000.0
    worker.failing["listen 1"] = [PlatformError("busy")]
    async with EventQueue(store, worker, lambda: now) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await inbox.wait_until_idle()
    [row] = await store.event_queue.list_waiting()
    assert (row.attempts, row.due_at) == (1, now + module.FIRST_DELAY)


async def test_keys_are_kept_for_two_days_and_not_forever(store: BotStore) -> None:
    await store.event_queue.enqueue("Heard", "{}", ["event:1"], 1000.0)
    await store.event_queue.finish(1)
    await store.event_queue.enqueue("Heard", "{}", ["event:2"], 1000.0)
    await store.event_queue.prune(1000.0)
    assert not await store.event_queue.enqueue("Heard", "{}", ["event:1"], 1000.0)
    await store.event_queue.prune(1000.1)
    assert await store.event_queue.enqueue("Heard", "{}", ["event:1"], 1000.0)
    assert not await store.event_queue.enqueue("Heard", "{}", ["event:2"], 1000.0)


async def test_a_payload_that_nobody_understands_any_more_hinders_nobody(store: BotStore, worker: Recorder) -> None:
    await store.event_queue.enqueue("Sneezed", "{}", ["event:1"], 0.0)
    await store.event_queue.enqueue("Heard", '{"message": 1}', ["event:2"], 0.0)
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("3"), "event:3")
        await inbox.wait_until_idle()
    assert worker.followed == [heard("3")]
    assert await store.event_queue.list_waiting() == []


async def test_a_lane_goes_on_though_a_failure_in_it_could_not_be_written_down(
    store: BotStore, worker: Recorder, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(store.event_queue, "delay", broken)
    worker.failing["listen 1"] = [PlatformError("away")]
    async with EventQueue(store, worker) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await worker.until(lambda: not worker.failing["listen 1"])
        await inbox.enqueue(heard("2"), "event:2")
        await worker.until(lambda: {name(each) for each in worker.followed} == {"1", "2"})


async def test_the_inbox_is_read_on_after_what_was_not_foreseen(
    store: BotStore, worker: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, met = store.event_queue.list_waiting, list[int]()

    async def broken(after: int) -> object:
        met.append(after)
        if len(met) < 3:
            raise ConnectionResetError
        return await waiting(after=after)

    monkeypatch.setattr(store.event_queue, "list_waiting", broken)
    supervisor = Supervisor(first_wait=0.01)
    async with EventQueue(store, worker, supervisor=supervisor) as inbox:
        await inbox.enqueue(heard("1"), "event:1")
        await worker.until(lambda: worker.followed)
        assert inbox.is_running
    assert [each.failures for each in supervisor.list_reports() if each.name == "event queue"] == [2]
