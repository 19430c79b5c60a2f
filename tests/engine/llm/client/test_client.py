"""Streams of a provider that sends strange pieces, and of one that thinks for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from itertools import chain, cycle

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import ModelError, ModelRefused, ModelTimeout
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import CallObservers, CallParameters, StreamDelta
from engine.llm.config import CallTimeouts, ModelConfig
from engine.models import LLMMessage
from engine.usage import UsageMeter
from tests.support.patience import PATIENCE

REQUEST = ChatRequest(ModelConfig("openai/stub"), "answer", [LLMMessage("user", "Who?")])
BRIEF = CallTimeouts(timeout=0.1, idle_timeout=0.1, max_attempts=1)
# The pauses of a stream that comes whole are far shorter than what is allowed, also on a busy machine.
STEADY = CallTimeouts(timeout=1.0, idle_timeout=1.0, max_attempts=1)
STEADY_THINKING = CallTimeouts(timeout=PATIENCE, idle_timeout=PATIENCE, max_attempts=1, thinking=1.0)
BRIEF_THINKING = CallTimeouts(timeout=2.0, idle_timeout=2.0, max_attempts=1, thinking=0.15)
EMPTY, ADA, THOUGHT = StreamDelta(), StreamDelta("Ada "), StreamDelta(thought=True)


class ScriptedProvider(LiteLLMProvider):
    """Streams these pieces, with a short pause before each."""

    def __init__(self, pieces: Iterable[StreamDelta], pause: float = 0.005) -> None:
        super().__init__(SYSTEM_CLOCK)
        self.pieces = pieces
        self.pause = pause

    async def preload(self) -> None:
        """Load nothing."""

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        for piece in self.pieces:
            await asyncio.sleep(self.pause)
            yield piece


async def text_of(client: ModelClient, meter: UsageMeter | None = None) -> str:
    async with asyncio.timeout(PATIENCE):
        return "".join([text async for text in client.stream(REQUEST, meter or UsageMeter())])


async def test_the_duration_of_each_call_is_observed_by_purpose() -> None:
    observed: list[tuple[str, bool]] = []
    observers = CallObservers(lambda purpose, seconds: observed.append((purpose, seconds >= 0.005)))
    client = ModelClient(2, STEADY, ScriptedProvider([StreamDelta("text", "stop")]), observers=observers)
    assert await text_of(client) == "text"
    assert observed == [("answer", True)]


@pytest.mark.parametrize(
    ("pieces", "timeouts", "kind"),
    [
        pytest.param(cycle([EMPTY]), BRIEF, ModelTimeout, id="empty pieces only"),
        pytest.param([StreamDelta(finish="content_filter")], STEADY, ModelRefused, id="filtered before any text"),
        pytest.param(chain([ADA], cycle([EMPTY])), BRIEF, ModelError, id="empty pieces after a text"),
        pytest.param(cycle([THOUGHT]), BRIEF_THINKING, ModelTimeout, id="thoughts without end"),
        pytest.param(cycle([ADA, THOUGHT]), BRIEF_THINKING, ModelTimeout, id="thoughts between texts, added up"),
    ],
)
async def test_a_stream_without_progress_is_given_up(
    pieces: Iterable[StreamDelta], timeouts: CallTimeouts, kind: type[ModelError]
) -> None:
    with pytest.raises(kind) as caught:
        await text_of(ModelClient(2, timeouts, ScriptedProvider(pieces)))
    if timeouts is BRIEF_THINKING:
        assert "thought for more than" in str(caught.value)
        assert "THREADLORE_LLM_THINKING_TIMEOUT_SECONDS" in caught.value.hint


@pytest.mark.parametrize(
    ("pieces", "timeouts"),
    [
        pytest.param([THOUGHT] * 40 + [ADA], STEADY, id="thoughts are a sign of life"),
        pytest.param([THOUGHT, *[ADA] * 40, THOUGHT, ADA], STEADY_THINKING, id="texts between thoughts do not count"),
    ],
)
async def test_a_slow_stream_with_progress_comes_whole(pieces: list[StreamDelta], timeouts: CallTimeouts) -> None:
    text = await text_of(ModelClient(2, timeouts, ScriptedProvider(pieces, 0.03)))
    assert text == "Ada " * pieces.count(ADA)


@pytest.mark.parametrize(("finish", "filtered"), [("content_filter", True), ("length", False)])
async def test_a_filter_that_ends_a_reply_is_recorded(finish: str, *, filtered: bool) -> None:
    client, meter = ModelClient(2, STEADY, ScriptedProvider([ADA, StreamDelta(finish=finish)])), UsageMeter()
    assert await text_of(client, meter) == "Ada "
    assert [(usage.cut_off, usage.filtered) for usage in meter.items] == [(True, filtered)]
