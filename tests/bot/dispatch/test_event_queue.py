"""The inbox: stored before it is worked on, once however often it is told, and not lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from bot.dispatch import event_queue as module
from bot.dispatch.event_queue import Inbox
from bot.errors import NotConnected, PlatformError, PlatformUnavailable
from bot.platform.events import Asked, Clicked, Ended, Happening, Heard
from bot.platform.models import Message, Place, Upload
from bot.store import Store
from engine.errors import DiskTrouble
from engine.scheduling.supervisor import Supervisor
from tests.support.engines import files_with
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

ROOF = Place("slack", "T1", "ROOF")


def heard(id_: str, text: str = "Hello.") -> Heard:
    return Heard(Message(id_, ROOF, "ada", text, START, (Upload("F1", "a.txt", 3, "text/plain", "https://x"),)), False)


class Recorder:
    """Notes what it is given; `failing` by message or kind, as often as the list is long."""

    def __init__(self) -> None:
        self.listened: list[Happening] = []
        self.followed: list[Happening] = []
        self.telling: list[Happening] = []
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

    def lane(self, happening: Happening) -> str:
        return "roof" if self.lanes and isinstance(happening, Heard) else ""

    async def listen(self, happening: Happening) -> None:
        self._fail(f"listen {name(happening)}")
        self.listened.append(happening)
        self.news.set()

    async def follow(self, happening: Happening) -> None:
        if gate := self.gates.get(name(happening)):
            await gate.wait()
        self._fail(f"follow {name(happening)}")
        self.followed.append(happening)
        self.news.set()

    async def give_up(self, happening: Happening, error: Exception) -> None:
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


def name(happening: Happening) -> str:
    return happening.message.id if isinstance(happening, Heard) else type(happening).__name__


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def worker() -> Recorder:
    return Recorder()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next try comes after a hundredth of a second."""
    monkeypatch.setattr(module, "FIRST", 0.01)
    monkeypatch.setattr(module, "LONGEST", 0.01)


async def test_a_happening_is_listened_to_and_then_followed(store: Store, worker: Recorder) -> None:
    async with Inbox(store, worker) as inbox:
        assert await inbox.put(heard("1"), "event:1")
        await inbox.idle()
    assert (worker.listened, worker.followed) == ([heard("1")], [heard("1")])


async def test_every_kind_of_happening_comes_back_as_it_was(store: Store, worker: Recorder) -> None:
    told: list[Happening] = [
        Asked("q1", ROOF, "ada", "Who?", START, private=False, mode="naive", handle="h"),
        Clicked("c1", ROOF, "ada", "up", "a1"),
        Ended("slack", "T1", "uninstalled"),
    ]
    worker.lanes = False
    async with Inbox(store, worker) as inbox:
        for number, each in enumerate(told):
            await inbox.put(each, f"key {number}")
        await inbox.idle()
    assert sorted(worker.followed, key=name) == told


async def test_half_characters_of_a_happening_are_replaced(store: Store, worker: Recorder) -> None:
    async with Inbox(store, worker) as inbox:
        assert await inbox.put(heard("1", "Hello \ud83d."), "event:\ud83d")
        assert not await inbox.put(heard("1", "Hello \ud83d."), "event:\ud83d")
        await inbox.idle()
    assert worker.followed == [heard("1", "Hello \ufffd.")]


async def test_a_happening_that_is_known_by_any_of_its_keys_is_dropped(store: Store, worker: Recorder) -> None:
    async with Inbox(store, worker) as inbox:
        assert await inbox.put(heard("1"), "event:1", "message:1")
        assert not await inbox.put(heard("1"), "event:2", "message:1")
        assert not await inbox.put(heard("1"), "event:2")
        await inbox.idle()
        assert not await inbox.put(heard("1"), "event:1")
    assert len(worker.followed) == 1


async def test_two_that_come_at_the_same_moment_are_one(store: Store, worker: Recorder) -> None:
    async with Inbox(store, worker) as inbox:
        told = await asyncio.gather(*(inbox.put(heard("1"), f"event:{n}", "message:1") for n in range(20)))
        await inbox.idle()
    assert Counter(told) == {True: 1, False: 19}
    assert len(worker.followed) == 1


async def test_the_words_go_once_they_are_handled(store: Store, worker: Recorder, tmp_path: Path) -> None:
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1", "swordfish"), "event:1")
        await inbox.idle()
    await store.compact()
    assert files_with(tmp_path, "swordfish") == []


async def test_a_lane_is_listened_to_in_order_while_answers_take_their_time(store: Store, worker: Recorder) -> None:
    worker.gates["0"] = asyncio.Event()
    async with Inbox(store, worker) as inbox:
        for number in range(5):
            await inbox.put(heard(str(number)), f"event:{number}")
        await worker.until(lambda: len(worker.followed) == 4)
        assert [name(each) for each in worker.listened] == list("01234")
        assert await inbox.depth() >= 1
        worker.gates["0"].set()
        await inbox.idle()
        assert await inbox.depth() == 0


async def test_what_was_not_finished_is_done_after_a_restart(store: Store, worker: Recorder) -> None:
    worker.gates["1"] = asyncio.Event()
    inbox = Inbox(store, worker)
    await inbox.__aenter__()
    await inbox.put(heard("1"), "event:1")
    await worker.until(lambda: worker.listened)
    for task in [*inbox._tasks, inbox._pump]:  # as if the process were killed
        task.cancel()
    after = Recorder()
    async with Inbox(store, after) as again:
        await after.until(lambda: after.followed)
        await again.idle()
    assert (after.listened, after.followed) == ([heard("1")], [heard("1")])


async def test_what_is_under_way_is_finished_before_the_end(store: Store, worker: Recorder) -> None:
    worker.gates["1"] = asyncio.Event()
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"), "event:1")
        await worker.until(lambda: worker.listened)
        asyncio.get_running_loop().call_later(0.05, worker.gates["1"].set)
    assert worker.followed == [heard("1")]
    assert await store.inbox.depth() == 0


@pytest.mark.usefixtures("at_once")
async def test_what_fails_is_tried_again_and_hinders_nobody(store: Store, worker: Recorder) -> None:
    worker.failing["listen 1"] = [RuntimeError("a bug"), OSError("gone"), PlatformError("busy")]
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"), "event:1")
        await inbox.put(heard("2"), "event:2")
        await worker.until(lambda: len(worker.followed) == 2)
        await inbox.idle()
    assert [name(each) for each in worker.listened] == ["2", "1"]
    assert worker.given_up == []


@pytest.mark.usefixtures("at_once")
async def test_what_waits_for_its_platform_is_never_given_up(
    store: Store, worker: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNCONNECTED", 0.0)
    worker.failing["listen 1"] = [NotConnected("There is no connection yet.")] * (3 * module.TRIES)
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"))
        await worker.until(lambda: worker.followed)
    assert worker.given_up == []


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("where", ["listen", "follow"])
@pytest.mark.parametrize(
    "error",
    [
        PlatformUnavailable("Slack has trouble of its own: internal_error."),
        DiskTrouble("Full."),
        ConnectionResetError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_passes_by_itself_is_never_given_up_and_counts_as_no_try(
    store: Store, worker: Recorder, error: Exception, where: str
) -> None:
    worker.failing[f"{where} 1"] = [error] * (3 * module.TRIES) + [RuntimeError("a bug")]
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"))
        await worker.until(lambda: worker.followed)
        await inbox.idle()
        assert await inbox.limitations() == []
    assert worker.given_up == []


async def test_what_waits_for_a_platform_is_told_and_tried_at_once_when_that_is_back(
    store: Store, worker: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST", 300.0)
    worker.failing["follow 1"] = [PlatformUnavailable("Slack was not reached: X.")] * 2
    supervisor = Supervisor()
    async with Inbox(store, worker, lambda: 1000.0, supervisor) as inbox:
        await inbox.put(heard("1"), "event:1")
        await worker.until(lambda: len(worker.failing["follow 1"]) == 1)
        await inbox.put(heard("2"), "event:2")  # what can be worked on goes on meanwhile
        await worker.until(lambda: worker.followed)
        await inbox.idle()
        assert supervisor.complaints() == [
            "Events of slack that wait and are tried again: 1. Slack was not reached: X."
        ]
        [row] = await store.inbox.waiting()
        assert (row.tries, row.due) == (0, 1300.0)
        inbox.retry_now()
        await worker.until(lambda: not worker.failing["follow 1"])
        await inbox.idle()
        assert supervisor.complaints()
        inbox.retry_now()
        await worker.until(lambda: len(worker.followed) == 2)
        await inbox.idle()
        assert supervisor.complaints() == []


@pytest.mark.usefixtures("at_once")
async def test_what_was_given_up_is_told_to_whoever_runs_the_program(store: Store, worker: Recorder) -> None:
    worker.failing["follow 1"] = [PlatformError("refused")] * module.TRIES
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"))
        await worker.until(lambda: worker.given_up)
        await inbox.idle()
        [sentence] = await inbox.limitations()
    assert "1 for PlatformError" in sentence


@pytest.mark.usefixtures("at_once")
async def test_what_fails_for_good_is_recorded_by_the_class_of_the_error_alone(
    store: Store, worker: Recorder, tmp_path: Path
) -> None:
    worker.failing["follow 1"] = [RuntimeError("swordfish")] * module.TRIES_OF_A_BUG
    worker.failing["follow 2"] = [PlatformError("swordfish")] * module.TRIES
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1", "swordfish"), "event:1")
        await inbox.put(heard("2", "swordfish"), "event:2")
        await worker.until(lambda: len(worker.given_up) == 2)
        await inbox.idle()
        assert not await inbox.put(heard("1"), "event:1")
    assert sorted(worker.given_up) == ["1 RuntimeError", "2 PlatformError"]
    assert await store.inbox.waiting() == []
    await store.compact()
    assert files_with(tmp_path, "swordfish") == []


@pytest.mark.usefixtures("at_once")
async def test_whoever_waits_is_told_even_if_the_process_ends_while_he_is(store: Store, worker: Recorder) -> None:
    worker.failing["follow 1"] = [RuntimeError("a bug")] * module.TRIES_OF_A_BUG
    worker.gates["give up 1"] = asyncio.Event()
    inbox = Inbox(store, worker)
    await inbox.__aenter__()
    await inbox.put(heard("1"), "event:1")
    await worker.until(lambda: worker.telling)
    for task in [*inbox._tasks, inbox._pump]:  # as if the process were killed
        task.cancel()
    after = Recorder()
    after.failing["follow 1"] = [RuntimeError("a bug")] * module.TRIES_OF_A_BUG
    async with Inbox(store, after) as again:
        await after.until(lambda: after.given_up)
        await again.idle()
    assert after.given_up == ["1 RuntimeError"]
    assert await store.inbox.waiting() == []


@pytest.mark.usefixtures("at_once")
async def test_what_cannot_even_be_given_up_hinders_nothing_behind_it(store: Store, worker: Recorder) -> None:
    worker.failing["listen 1"] = [RuntimeError("a bug")] * module.TRIES_OF_A_BUG
    worker.failing["give up 1"] = [RuntimeError("another")]
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"), "event:1")
        await worker.until(lambda: not worker.failing["give up 1"])
        await inbox.idle()
        await inbox.put(heard("2"), "event:2")
        await worker.until(lambda: worker.followed)
    assert worker.followed == [heard("2")]


async def test_a_later_try_is_remembered_over_a_restart(store: Store, worker: Recorder) -> None:
    now = 1000.0
    worker.failing["listen 1"] = [PlatformError("busy")]
    async with Inbox(store, worker, lambda: now) as inbox:
        await inbox.put(heard("1"), "event:1")
        await inbox.idle()
    [row] = await store.inbox.waiting()
    assert (row.tries, row.due) == (1, now + module.FIRST)


async def test_keys_are_kept_for_two_days_and_not_forever(store: Store) -> None:
    await store.inbox.put("Heard", "{}", ["event:1"], 1000.0)
    await store.inbox.done(1)
    await store.inbox.put("Heard", "{}", ["event:2"], 1000.0)
    await store.inbox.prune(1000.0)
    assert not await store.inbox.put("Heard", "{}", ["event:1"], 1000.0)
    await store.inbox.prune(1000.1)
    assert await store.inbox.put("Heard", "{}", ["event:1"], 1000.0)
    assert not await store.inbox.put("Heard", "{}", ["event:2"], 1000.0)


async def test_a_payload_that_nobody_understands_any_more_hinders_nobody(store: Store, worker: Recorder) -> None:
    await store.inbox.put("Sneezed", "{}", ["event:1"], 0.0)
    await store.inbox.put("Heard", '{"message": 1}', ["event:2"], 0.0)
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("3"), "event:3")
        await inbox.idle()
    assert worker.followed == [heard("3")]
    assert await store.inbox.waiting() == []


async def test_a_lane_goes_on_though_a_failure_in_it_could_not_be_written_down(
    store: Store, worker: Recorder, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(store.inbox, "delay", broken)
    worker.failing["listen 1"] = [PlatformError("away")]
    async with Inbox(store, worker) as inbox:
        await inbox.put(heard("1"), "event:1")
        await worker.until(lambda: not worker.failing["listen 1"])
        await inbox.put(heard("2"), "event:2")
        await worker.until(lambda: {name(each) for each in worker.followed} == {"1", "2"})


async def test_the_inbox_is_read_on_after_what_was_not_foreseen(
    store: Store, worker: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting, met = store.inbox.waiting, list[int]()

    async def broken(after: int) -> object:
        met.append(after)
        if len(met) < 3:
            raise ConnectionResetError
        return await waiting(after=after)

    monkeypatch.setattr(store.inbox, "waiting", broken)
    supervisor = Supervisor(first_wait=0.01)
    async with Inbox(store, worker, supervisor=supervisor) as inbox:
        await inbox.put(heard("1"), "event:1")
        await worker.until(lambda: worker.followed)
        assert inbox.working
    assert [each.failures for each in supervisor.reports() if each.name == "inbox"] == [2]
