"""Streaming replies: first words at once, one call at a time, never to somebody who may not read them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise

import pytest

from bot import texts
from bot.answers import delivery as module
from bot.answers.delivery import AnswerFrame, StreamingReply
from bot.errors import PlatformError
from bot.platform.models import AnswerFooter
from bot.platform.ports import MessageLimits
from engine.clock import SYSTEM_CLOCK
from tests.support.patience import PATIENCE

FOOTER = AnswerFooter("a1")


class RecordingReply:
    """Keeps what it shows, and when. Calls wait for `gate`; `failing` are raised once; `early` calls are refused."""

    def __init__(self) -> None:
        self.reply_ref = ""
        self.shown: list[tuple[str, ...]] = []
        self.times: list[float] = []
        self.statuses: list[str] = []
        self.finished: tuple[str, ...] | None = None
        self.replaced = ""
        self.failing: dict[str, Exception] = {}
        self.early = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.called = asyncio.Event()
        self._busy = False

    async def _call(self, name: str) -> None:
        assert not self._busy, "two calls at once"
        self._busy = True
        self.called.set()
        try:
            if name in self.failing:
                raise self.failing.pop(name)
            await self.gate.wait()
            self.reply_ref = "m1"
        finally:
            self._busy = False
            self.called.set()

    async def show_status(self, words: str) -> None:
        self.statuses.append(words)
        await self._call("status")

    async def show(self, parts: Sequence[str]) -> bool:
        if self.early:
            self.early -= 1
            return False
        self.times.append(time.monotonic())
        self.shown.append(tuple(parts))
        await self._call("show")
        return True

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        await self._call("finish")
        self.finished = tuple(parts)

    async def replace(self, text: str) -> None:
        await self._call("replace")
        self.replaced = text

    async def wait_for(self, text: str) -> None:
        """Return once this is shown."""
        await self.until(lambda: self.shown[-1:] == [(text,)] and not self._busy)

    async def until(self, done: Callable[[], bool]) -> None:
        """Return once a call has made it so."""
        async with asyncio.timeout(PATIENCE):
            while not done():
                self.called.clear()
                await self.called.wait()


class CanShow:
    """Says whether its readers may read; the last answer is repeated."""

    def __init__(self, *answers: bool | None) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self) -> bool | None:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def reply() -> RecordingReply:
    return RecordingReply()


@pytest.fixture
def refs() -> list[str]:
    return []


@pytest.fixture
def write_interval() -> float:
    return 0.05


@pytest.fixture
async def delivery(
    reply: RecordingReply, refs: list[str], write_interval: float, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StreamingReply]:
    monkeypatch.setattr(module, "RECHECK_DELAY", 0.01)

    async def save(ref: str) -> None:
        refs.append(ref)

    async with StreamingReply(reply, MessageLimits(2000, write_interval), save, SYSTEM_CLOCK) as opened:
        yield opened


@pytest.mark.parametrize("write_interval", [10 * PATIENCE])
async def test_status_and_first_words_are_shown_at_once(delivery: StreamingReply, reply: RecordingReply) -> None:
    delivery.set_status("is searching…")
    await reply.called.wait()
    assert reply.statuses == ["is searching…"]
    delivery.set_text("All")
    await reply.wait_for("All")


async def test_later_words_are_not_shown_faster_than_allowed(
    delivery: StreamingReply, reply: RecordingReply, refs: list[str]
) -> None:
    text = ""
    for piece in ("All ", "that ", "comes ", "in ", "pieces "):
        text += piece
        delivery.set_text(text)
        await reply.wait_for(text)
    assert all(later - earlier >= 0.049 for earlier, later in pairwise(reply.times))
    delivery.set_text(text)
    await asyncio.sleep(0.06)  # longer than a write waits
    await delivery.finish(text, FOOTER)
    assert (len(reply.shown), refs) == (5, ["m1"])


async def test_words_that_come_during_a_slow_call_go_out_together_and_the_end_waits_for_it(
    delivery: StreamingReply, reply: RecordingReply
) -> None:
    reply.gate.clear()
    for length in range(1, 30):
        delivery.set_text("a" * length)
        await asyncio.sleep(0)
    reply.gate.set()
    await reply.wait_for("a" * 29)
    assert reply.shown == [("a",), ("a" * 29,)]
    reply.gate.clear()
    delivery.set_text("a" * 30)
    await reply.until(lambda: len(reply.shown) == 3)
    ending = asyncio.create_task(delivery.finish("abc", FOOTER))
    await asyncio.sleep(0)
    reply.gate.set()
    assert await ending
    assert (len(reply.shown), reply.finished) == (3, ("abc",))


async def test_words_that_came_too_early_are_shown_soon(delivery: StreamingReply, reply: RecordingReply) -> None:
    reply.early = 2
    can_show = CanShow(True)
    delivery.set_frame(AnswerFrame(can_show=can_show))
    delivery.set_text("a")
    await reply.until(lambda: bool(reply.shown))
    assert reply.shown == [("a",)]
    assert can_show.asked == 3
    assert delivery.first_shown_at is not None


@pytest.mark.parametrize("error", [PlatformError("Too fast."), ZeroDivisionError("a bug")])
async def test_a_failed_write_is_made_up_for(delivery: StreamingReply, reply: RecordingReply, error: Exception) -> None:
    reply.failing["show"] = error
    delivery.set_text("a")
    await reply.until(lambda: not reply.failing)
    delivery.set_text("ab")
    if isinstance(error, PlatformError):
        await reply.wait_for("ab")
    assert await delivery.finish("abc", FOOTER)
    assert reply.finished == ("abc",)


async def test_an_end_that_fails_is_an_error(delivery: StreamingReply, reply: RecordingReply) -> None:
    reply.failing["finish"] = PlatformError("No.")
    with pytest.raises(PlatformError):
        await delivery.finish("a", FOOTER)


async def test_readers_are_checked_before_every_write(delivery: StreamingReply, reply: RecordingReply) -> None:
    can_show = CanShow(True)
    delivery.set_frame(AnswerFrame(can_show=can_show))
    for text in ("a", "ab"):
        delivery.set_text(text)
        await reply.wait_for(text)
    await delivery.finish("abc", FOOTER)
    assert can_show.asked == 3


@pytest.mark.parametrize("failing", [False, True])
async def test_a_text_whose_readers_changed_is_withdrawn_at_once_and_again_at_the_end(
    delivery: StreamingReply, reply: RecordingReply, *, failing: bool
) -> None:
    delivery.set_frame(AnswerFrame(can_show=CanShow(True, False)))
    delivery.set_text("the secret is")
    await reply.wait_for("the secret is")
    reply.failing |= {"replace": PlatformError("No.")} if failing else {}
    delivery.set_text("the secret is out")
    await reply.until(lambda: bool(reply.replaced) or (failing and not reply.failing))
    assert not await delivery.finish("the secret is out of the bag", FOOTER)
    assert reply.replaced == delivery.withdrawal_text == texts.ANSWER_WITHDRAWN
    assert (reply.shown, reply.finished) == ([("the secret is",)], None)


@pytest.mark.parametrize(
    ("answers", "finished", "replaced"),
    [
        ((False,), False, texts.ANSWER_WITHDRAWN),
        ((None, None, True), True, ""),
        ((None,), False, texts.AUDIENCE_UNKNOWN),
    ],
    ids=["others at the very end", "unknown for a while", "unknown for long"],
)
async def test_an_end_is_shown_only_to_readers_who_are_known(
    delivery: StreamingReply, reply: RecordingReply, answers: tuple[bool | None, ...], replaced: str, *, finished: bool
) -> None:
    delivery.set_frame(AnswerFrame(can_show=CanShow(*answers)))
    delivery.set_text("a")
    assert await delivery.finish("ab", FOOTER) is finished
    assert (reply.replaced, reply.finished) == (replaced, ("ab",) if finished else None)


async def test_a_status_is_repeated_before_it_fades(reply: RecordingReply, monkeypatch: pytest.MonkeyPatch) -> None:
    async def save(_: str) -> None:
        return

    monkeypatch.setattr(module, "HEARTBEAT", 0.02)
    async with StreamingReply(reply, MessageLimits(2000, 0.0), save, SYSTEM_CLOCK) as opened:
        opened.set_status("is searching…")
        await reply.until(lambda: len(reply.statuses) > 2)
    assert set(reply.statuses) == {"is searching…"}


async def test_a_long_answer_has_several_parts(delivery: StreamingReply, reply: RecordingReply) -> None:
    assert await delivery.finish("word " * 1000, FOOTER)
    assert reply.finished is not None
    assert (len(reply.finished), "".join(reply.finished)) == (3, "word " * 1000)
