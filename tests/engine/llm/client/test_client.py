"""Streams of a provider that sends strange pieces, and one whose thoughts take long."""

from __future__ import annotations

import asyncio
from itertools import count, cycle
from typing import TYPE_CHECKING

import pytest

from engine.errors import ModelError, ModelTimeout
from engine.llm.client.client import ChatRequest, ModelClient
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import StreamDelta
from engine.llm.config import CallTimeouts, ModelConfig
from engine.models import LLMMessage
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from engine.llm.client.protocol import CallParameters

ASK = ChatRequest(ModelConfig("openai/stub"), "answer", [LLMMessage("user", "Who?")])
BRIEF = CallTimeouts(timeout=0.2, idle_timeout=0.2, max_attempts=1)
THOUGHTLESS = CallTimeouts(timeout=2.0, idle_timeout=2.0, max_attempts=1, thinking=0.3)


class Pieces(LiteLLMProvider):
    """A provider that streams these pieces, with a short pause before each."""

    def __init__(self, pieces: Iterable[StreamDelta]) -> None:
        super().__init__()
        self.pieces = pieces

    async def preload(self) -> None:
        """Nothing is loaded."""

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        del parameters
        for piece in self.pieces:
            await asyncio.sleep(0.01)
            yield piece


async def heard(pieces: Iterable[StreamDelta], bill: UsageMeter | None = None, patience: CallTimeouts = BRIEF) -> str:
    """The text of a stream, within a few seconds."""
    async with asyncio.timeout(5):
        return "".join(
            [text async for text in ModelClient(2, patience, Pieces(pieces)).stream(ASK, bill or UsageMeter())]
        )


async def test_the_duration_of_each_call_is_observed_by_purpose() -> None:
    client, seen = ModelClient(2, BRIEF, Pieces([StreamDelta("text", "stop")])), []
    client.observe_call = lambda purpose, seconds: seen.append((purpose, seconds >= 0.01))
    assert [text async for text in client.stream(ASK, UsageMeter())] == ["text"]
    assert seen == [("answer", True)]


async def test_pieces_without_anything_in_them_are_no_sign_of_life() -> None:
    with pytest.raises(ModelTimeout):
        await heard(cycle([StreamDelta()]))


async def test_pieces_without_anything_in_them_are_none_after_the_first_text_either() -> None:
    with pytest.raises(ModelError):
        await heard(StreamDelta("Ada") if number == 0 else StreamDelta() for number in count())


async def test_thoughts_are_a_sign_of_life() -> None:
    thoughts = [StreamDelta(thought=True)] * 40
    assert await heard([*thoughts, StreamDelta("Ada")]) == "Ada"


async def test_thoughts_without_end_are_given_up() -> None:
    with pytest.raises(ModelTimeout, match="thought for more than") as caught:
        await heard(cycle([StreamDelta(thought=True)]), patience=THOUGHTLESS)
    assert "THREADLORE_LLM_THINKING_TIMEOUT_SECONDS" in caught.value.hint


async def test_thoughts_between_texts_are_counted_together() -> None:
    with pytest.raises(ModelTimeout):
        await heard(cycle([StreamDelta("Ada "), StreamDelta(thought=True)]), patience=THOUGHTLESS)


async def test_a_long_answer_between_thoughts_is_no_thinking() -> None:
    pieces = [StreamDelta(thought=True), *[StreamDelta("Ada ")] * 60, StreamDelta(thought=True), StreamDelta("Bob")]
    assert (await heard(pieces, patience=THOUGHTLESS)).endswith("Bob")


@pytest.mark.parametrize(("finish", "filtered"), [("content_filter", True), ("length", False)])
async def test_a_filter_that_ends_a_reply_is_on_the_bill(finish: str, *, filtered: bool) -> None:
    assert await heard([StreamDelta("Ada"), StreamDelta(finish=finish)], bill := UsageMeter()) == "Ada"
    assert [(usage.cut_off, usage.filtered) for usage in bill.items] == [(True, filtered)]
