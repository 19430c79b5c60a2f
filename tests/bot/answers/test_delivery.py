"""An answer on its way: first words at once, one call at a time, never to somebody who may not read it."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers import delivery as delivering
from bot.answers.delivery import StreamingReply
from bot.errors import PlatformError
from bot.platform.models import AnswerFooter
from bot.platform.ports import MessageLimits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

CLOSING = AnswerFooter("a1")


class Reply:
    """Keeps what it shows, and when. While `gate` is closed calls wait; `failing` are raised, each once.

    So many words come too `early` for the platform.
    """

    def __init__(self) -> None:
        self.reply_ref = ""
        self.said: list[tuple[str, ...]] = []
        self.times: list[float] = []
        self.statuses: list[str] = []
        self.finished: tuple[str, ...] | None = None
        self.replaced = ""
        self.failing: dict[str, Exception] = {}
        self.early = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.news = asyncio.Event()
        self._busy = False

    async def _call(self, name: str) -> None:
        assert not self._busy, "two calls at once"
        self._busy = True
        self.news.set()
        try:
            if name in self.failing:
                raise self.failing.pop(name)
            await self.gate.wait()
            self.reply_ref = "m1"
        finally:
            self._busy = False
            self.news.set()

    async def show_status(self, words: str) -> None:
        self.statuses.append(words)
        await self._call("status")

    async def show(self, parts: Sequence[str]) -> bool:
        if self.early:
            self.early -= 1
            return False
        self.times.append(time.monotonic())
        self.said.append(tuple(parts))
        await self._call("show")
        return True

    async def finish(self, parts: Sequence[str], closing: AnswerFooter) -> None:
        await self._call("finish")
        self.finished = tuple(parts)

    async def replace(self, text: str) -> None:
        await self._call("replace")
        self.replaced = text

    async def shows(self, text: str) -> None:
        """Return once this is shown."""
        await self.until(lambda: self.said[-1:] == [(text,)] and not self._busy)

    async def until(self, done: Callable[[], bool]) -> None:
        """Return once a call has made it so."""
        async with asyncio.timeout(10):
            while not done():
                self.news.clear()
                await self.news.wait()


class Gatekeeper:
    """Says who may read."""

    def __init__(self, *answers: bool | None) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self) -> bool | None:
        self.asked += 1
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def reply() -> Reply:
    return Reply()


@pytest.fixture
def marks() -> list[str]:
    return []


@pytest.fixture
async def delivery(reply: Reply, marks: list[str]) -> AsyncIterator[StreamingReply]:
    async def mark(name: str) -> None:
        marks.append(name)

    async with StreamingReply(reply, MessageLimits(2000, 0.05, 256), mark) as opened:
        yield opened


async def test_a_status_is_shown_at_once(delivery: StreamingReply, reply: Reply) -> None:
    delivery.set_status("is searching…")
    await reply.news.wait()
    assert reply.statuses == ["is searching…"]


async def test_first_words_do_not_wait(delivery: StreamingReply, reply: Reply) -> None:
    began = time.monotonic()
    delivery.set_text("Noon")
    await reply.shows("Noon")
    assert reply.times[0] - began < 0.04


async def test_later_words_come_not_faster_than_allowed(delivery: StreamingReply, reply: Reply) -> None:
    text = ""
    for piece in ("All ", "that ", "is ", "said ", "here ", "comes ", "in ", "pieces "):
        text += piece
        delivery.set_text(text)
        await reply.shows(text)
    assert all(later - earlier >= 0.049 for earlier, later in pairwise(reply.times))


async def test_words_that_come_while_a_call_is_slow_go_out_together(delivery: StreamingReply, reply: Reply) -> None:
    reply.gate.clear()
    delivery.set_text("a")
    await asyncio.sleep(0)
    for length in range(2, 30):
        delivery.set_text("a" * length)
        await asyncio.sleep(0)
    reply.gate.set()
    await reply.shows("a" * 29)
    assert reply.said == [("a",), ("a" * 29,)]


async def test_words_that_came_too_early_are_shown_soon_though_no_others_follow(
    delivery: StreamingReply, reply: Reply
) -> None:
    reply.early = 2
    keeper = delivery.can_show = Gatekeeper(True)
    delivery.set_text("a")
    await reply.until(lambda: bool(reply.said))
    assert reply.said == [("a",)]
    assert keeper.asked == 3
    assert delivery.first_shown_at is not None


async def test_the_end_waits_for_the_call_that_is_under_way(delivery: StreamingReply, reply: Reply) -> None:
    reply.gate.clear()
    delivery.set_text("a")
    await reply.until(lambda: bool(reply.said))
    ending = asyncio.create_task(delivery.finish("abc", CLOSING))
    await asyncio.sleep(0)
    reply.gate.set()
    assert await ending
    assert (reply.said, reply.finished) == ([("a",)], ("abc",))


async def test_the_mark_is_told_as_soon_as_there_is_one(
    delivery: StreamingReply, reply: Reply, marks: list[str]
) -> None:
    delivery.set_text("a")
    await reply.shows("a")
    await delivery.finish("a", CLOSING)
    assert marks == ["m1"]


async def test_a_write_that_fails_is_made_up_for(delivery: StreamingReply, reply: Reply) -> None:
    reply.failing["show"] = PlatformError("Too fast.")
    delivery.set_text("a")
    await reply.news.wait()
    delivery.set_text("ab")
    await reply.shows("ab")
    assert await delivery.finish("abc", CLOSING)
    assert reply.finished == ("abc",)


async def test_an_end_that_fails_is_an_error(delivery: StreamingReply, reply: Reply) -> None:
    reply.failing["finish"] = PlatformError("No.")
    with pytest.raises(PlatformError):
        await delivery.finish("a", CLOSING)


async def test_a_fault_of_the_adapter_costs_no_answer(delivery: StreamingReply, reply: Reply) -> None:
    reply.failing["show"] = ZeroDivisionError("bug")
    delivery.set_text("a")
    await reply.until(lambda: not reply.failing)
    assert await delivery.finish("ab", CLOSING)
    assert reply.finished == ("ab",)


async def test_readers_are_looked_at_before_every_write(delivery: StreamingReply, reply: Reply) -> None:
    keeper = delivery.can_show = Gatekeeper(True)
    delivery.set_text("a")
    await reply.shows("a")
    delivery.set_text("ab")
    await reply.shows("ab")
    await delivery.finish("abc", CLOSING)
    assert keeper.asked == 3


async def test_if_they_are_others_all_is_taken_back_at_once(delivery: StreamingReply, reply: Reply) -> None:
    delivery.can_show = Gatekeeper(True, False)
    delivery.set_text("the secret is")
    await reply.shows("the secret is")
    delivery.set_text("the secret is out")
    await reply.until(lambda: bool(reply.replaced))
    delivery.set_text("the secret is out of the bag")
    assert not await delivery.finish("the secret is out of the bag", CLOSING)
    assert reply.replaced == delivery.withdrawal_text == texts.ANSWER_WITHDRAWN
    assert (reply.said, reply.finished) == ([("the secret is",)], None)


async def test_also_at_the_very_end(delivery: StreamingReply, reply: Reply) -> None:
    delivery.can_show = Gatekeeper(False)
    assert not await delivery.finish("the secret", CLOSING)
    assert (reply.replaced, reply.finished) == (texts.ANSWER_WITHDRAWN, None)


async def test_taking_back_is_tried_again_at_the_end(delivery: StreamingReply, reply: Reply) -> None:
    delivery.can_show = Gatekeeper(True, False)
    delivery.set_text("the secret is")
    await reply.shows("the secret is")
    reply.failing["replace"] = PlatformError("No.")
    delivery.set_text("the secret is out")
    await reply.until(lambda: not reply.failing)
    assert not await delivery.finish("the secret is out", CLOSING)
    assert reply.replaced == texts.ANSWER_WITHDRAWN


async def test_unknown_readers_see_nothing_further(
    delivery: StreamingReply, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "RECHECK_DELAY", 0.01)
    delivery.can_show = Gatekeeper(None, None, True)
    delivery.set_text("a")
    await reply.shows("a")
    assert await delivery.finish("ab", CLOSING)


async def test_and_if_they_stay_unknown_it_is_taken_back(
    delivery: StreamingReply, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "RECHECK_DELAY", 0.01)
    delivery.can_show = Gatekeeper(None)
    delivery.set_text("a")
    assert not await delivery.finish("ab", CLOSING)
    assert (reply.replaced, reply.said) == (texts.AUDIENCE_UNKNOWN, [])


async def test_a_status_is_shown_again_before_it_fades(reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivering, "HEARTBEAT", 0.02)

    async def mark(_: str) -> None:
        return

    async with StreamingReply(reply, MessageLimits(2000, 0.0, 256), mark) as opened:
        opened.set_status("is searching…")
        await reply.until(lambda: len(reply.statuses) > 2)
    assert set(reply.statuses) == {"is searching…"}


async def test_a_long_answer_is_given_in_parts(delivery: StreamingReply, reply: Reply) -> None:
    assert await delivery.finish("word " * 1000, CLOSING)
    assert reply.finished is not None
    assert len(reply.finished) == 3
    assert "".join(reply.finished) == "word " * 1000
