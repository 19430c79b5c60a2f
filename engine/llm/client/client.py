"""Run model calls on a `Provider` with a concurrency limit, timeouts, retries and usage records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from engine.boundary import repair_surrogates
from engine.clock import SYSTEM_CLOCK
from engine.errors import InvalidReply, ModelError, ModelRefused, ModelUnavailable
from engine.llm.client.breaker import Breakers
from engine.llm.client.content import render_content
from engine.llm.client.errors import NO_API_HINT, map_error
from engine.llm.client.limiter import FOREGROUND_RANK, PrioritySemaphore
from engine.llm.client.litellm import LiteLLMProvider
from engine.llm.client.protocol import (
    UNFINISHED,
    UNOBSERVED,
    CallObservers,
    DescribingProvider,
    ModelTraits,
    StreamDelta,
    TokenUsage,
)
from engine.llm.client.reply_limits import MAX_RECEIVED_CHARACTERS, limit_reply, log_cut_off
from engine.llm.client.retry_policy import RetryPolicy
from engine.llm.client.thinking_time import ThinkingTime
from engine.llm.config import CallTimeouts
from engine.llm.formats.thinking_models import ThinkingModels
from engine.llm.traits.prompt_counts import PromptCounts
from engine.llm.traits.refused_parameters import RefusedParameters
from engine.llm.wire.rejections import STREAM
from engine.llm.wire.repeated_deltas import RepeatedDeltas
from engine.scheduling.foreground import is_urgent
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence

    import numpy as np

    from engine.clock import Clock
    from engine.llm.client.protocol import CallParameters, ChatReply, Provider
    from engine.llm.config import ModelConfig
    from engine.models import LLMMessage
    from engine.usage import Purpose, UsageMeter

_T = TypeVar("_T")

QUESTION_CALL_GAP = 0.5  # typical seconds between the calls of a question

# Finish reasons of an incomplete reply.
CONTENT_FILTERED = "content_filter"
TOO_LONG = "length"
LENGTH_REASONS = frozenset({TOO_LONG, "max_tokens"})
CUT_OFF_REASONS = LENGTH_REASONS | {CONTENT_FILTERED, UNFINISHED}

OUTPUT_LIMIT_HINT = "The reply reached its length limit: raise THREADLORE_LLM_MAX_OUTPUT_TOKENS."

PURPOSE_RANKS: dict[Purpose, int] = {
    "answer": 0,
    "condense": 0,
    "rerank": 0,
    "embed": 0,
    "summarize": 1,
    "describe": 1,
    "extract": 2,
}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat call. `json`: the reply is to be a JSON object."""

    model: ModelConfig
    purpose: Purpose
    messages: Sequence[LLMMessage]
    json: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole reply without thinking; whether the model's limit cut it off, or ours because it was far too long."""

    text: str
    is_cut_off: bool = False
    is_overlong: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """The model of a call, its rank among waiting calls, and whether a person waits for it."""

    model: ModelConfig
    rank: int
    is_urgent: bool


LONG_REPLY = 50_000  # characters that take some milliseconds to read


class ModelClient:
    """Calls of a provider with one concurrency limit; one of several slots is reserved for questions.

    A provider that fails is tested by one call at a time; other calls raise ModelPaused without a request.
    """

    def __init__(
        self,
        at_once: int = 8,
        timeouts: CallTimeouts | None = None,
        provider: Provider | None = None,
        clock: Clock = SYSTEM_CLOCK,
        observers: CallObservers = UNOBSERVED,
    ) -> None:
        self.timeouts = timeouts or CallTimeouts()
        self._clock = clock
        self._provider = provider or LiteLLMProvider(clock)
        self.observers = observers
        self._semaphore = PrioritySemaphore(at_once, reserved=1, question_gap=QUESTION_CALL_GAP)
        self._breakers = Breakers(clock, self.timeouts.initial_wait)
        self.thinking_models = ThinkingModels(clock)
        self._refused = RefusedParameters(clock)
        self.prompt_counts = PromptCounts()

    @property
    def clock(self) -> Clock:
        """The clock that it was made with."""
        return self._clock

    def limit_thinking(self, model: str) -> ThinkingTime:
        """The time that a model may think in one reply."""
        return ThinkingTime(model, self.timeouts.thinking, self._clock)

    def list_refused_parameters(self, model: ModelConfig) -> list[str]:
        """The parameters that are not sent to a model, because its provider refused them."""
        return self._refused.list_refused(model)

    async def describe(self, model: ModelConfig) -> ModelTraits:
        """What is known of a model without asking it."""
        if not isinstance(self._provider, DescribingProvider):
            return ModelTraits()
        return await self._provider.describe(model.connection_parameters())

    async def preload(self) -> None:
        """Load now what would delay the first call by seconds."""
        await self._provider.preload()

    async def close(self) -> None:
        """Release open resources."""
        await self._provider.close()

    async def complete(self, request: ChatRequest, meter: UsageMeter) -> str:
        """The text of `complete_reply`, also if it was cut off. Raises ModelError."""
        return (await self.complete_reply(request, meter)).text

    async def _read_reply(self, request: ChatRequest, reply: str) -> tuple[str, bool]:
        """A reply without thoughts, and whether it was cut off; a long one is read beside the event loop."""

        def read() -> tuple[str, bool]:
            self.thinking_models.record_reply(request.model, reply, is_free=not request.json)
            return limit_reply(reply, request.purpose, request.model.model)

        return await asyncio.to_thread(read) if len(reply) > LONG_REPLY else read()

    async def complete_reply(self, request: ChatRequest, meter: UsageMeter) -> Completion:
        """The reply without thinking. Raises ModelError.

        One longer than its purpose allows is cut off, which the log and its usage name.
        """

        async def call() -> Completion:
            with self._measure(request.purpose):
                parameters = self._chat_parameters(request)
                reply = await self._refused.call(request.model, parameters, self._provider.chat)
            self.prompt_counts.record(request.model.model, request.messages, reply.spent.input_tokens)
            text, is_cut = await self._read_reply(request, reply.text)
            meter.record(replace(_build_usage(request.purpose, request.model, reply.spent), cut_off=is_cut))
            if _lacks_text(reply, text, request.purpose):
                raise _empty_reply_error(reply.finish, request.model)
            return Completion(repair_surrogates(text), reply.finish in LENGTH_REASONS, is_cut)

        rank = PURPOSE_RANKS[request.purpose]
        called = Caller(request.model, rank, is_urgent=rank == FOREGROUND_RANK)
        return await self._call_with_retries(called, call)

    async def stream(self, request: ChatRequest, meter: UsageMeter) -> AsyncGenerator[str]:
        """Stream the reply. Retried only before the first piece; a later failure raises ModelUnavailable.

        The usage of a stream that ends before the model finished is marked as cut off.
        """
        async with (
            self._semaphore.acquire(PURPOSE_RANKS[request.purpose]),
            self._open_stream(request) as (first, pieces),
        ):
            piece: str | None = first
            try:
                while piece is not None:
                    yield piece
                    piece = await pieces.next_text(self.timeouts.idle_timeout)
            finally:
                cut_off = piece is None and pieces.finish in CUT_OFF_REASONS
                filtered = cut_off and pieces.finish == CONTENT_FILTERED
                spent = _build_usage(request.purpose, request.model, pieces.spent)
                self.prompt_counts.record(request.model.model, request.messages, spent.input_tokens)
                meter.record(replace(spent, cut_off=cut_off, filtered=filtered))

    async def embed(self, model: ModelConfig, texts: Sequence[str], rank: int, meter: UsageMeter) -> np.ndarray:
        """The vectors as float32 of shape (texts, dim), as the provider returned them. Raises ModelError."""

        async def call() -> np.ndarray:
            with self._measure("embed"):
                parameters = {"input": list(texts), **model.connection_parameters(), **self._limit_parameters()}
                result = await self._refused.call(model, parameters, self._provider.embed)
            meter.record(_build_usage("embed", model, result.spent))
            return result.rows

        return await self._call_with_retries(Caller(model, rank, is_urgent=is_urgent()), call)

    async def rerank(
        self, model: ModelConfig, question: str, texts: Sequence[str], meter: UsageMeter
    ) -> Sequence[Mapping[str, Any]]:
        """Rows {index, relevance_score} as the provider returned them. Raises ModelError."""
        query = {"query": question, "documents": list(texts), "return_documents": False}

        async def call() -> Sequence[Mapping[str, Any]]:
            with self._measure("rerank"):
                parameters = {**query, **model.connection_parameters(), "timeout": self.timeouts.timeout}
                result = await self._refused.call(model, parameters, self._provider.rerank)
            meter.record(_build_usage("rerank", model, result.spent))
            return result.rows

        return await self._call_with_retries(Caller(model, PURPOSE_RANKS["rerank"], is_urgent=True), call)

    @contextmanager
    def _measure(self, purpose: Purpose) -> Iterator[None]:
        started_at = self._clock.monotonic()
        try:
            yield
        finally:
            self.observers.call(purpose, self._clock.monotonic() - started_at)

    async def _call_with_retries(self, caller: Caller, call: Callable[[], Awaitable[_T]]) -> _T:
        """Run a call within the concurrency limit and its timeout, and retry if that may help."""
        await self.preload()

        async def attempt(seconds: float) -> _T:
            async with self._semaphore.acquire(caller.rank):
                return await self._call_with_timeout(caller.model, call(), seconds)

        result = await self._retry(caller, attempt)
        await self._semaphore.give_way(caller.rank)
        return result

    async def _retry(self, caller: Caller, attempt: Callable[[float], Awaitable[_T]]) -> _T:
        """Run an attempt, given the seconds that it may take, until it succeeds or no other one may help soon.

        While the provider is known to fail, there is one attempt.
        """
        policy = RetryPolicy(self.timeouts, self._clock, is_failing=self._breakers.is_open(caller.model))
        while True:
            try:
                admitted = self._breakers.admit(caller.model, urgent=caller.is_urgent, is_repeated=policy.failures > 0)
                async with admitted as limit:
                    return await attempt(min(self.timeouts.timeout, limit or self.timeouts.timeout))
            except ModelError as error:
                wait = policy.next_wait(error)
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    async def _call_with_timeout(self, model: ModelConfig, call: Awaitable[_T], seconds: float) -> _T:
        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError as error:
            raise map_error(error, model.model, self._clock.time()) from error

    @asynccontextmanager
    async def _open_stream(self, request: ChatRequest) -> AsyncIterator[tuple[str, _TextStream]]:
        await self.preload()

        async def start(seconds: float) -> tuple[str, _TextStream]:
            return await self._start_stream(request, seconds)

        with self._measure(request.purpose):
            rank = PURPOSE_RANKS[request.purpose]
            first, pieces = await self._retry(Caller(request.model, rank, is_urgent=True), start)
            async with aclosing(pieces):
                yield first, pieces

    async def _start_stream(self, request: ChatRequest, seconds: float) -> tuple[str, _TextStream]:
        async def send(parameters: CallParameters) -> tuple[str, _TextStream]:
            deltas = self._provider.stream(parameters) if STREAM in parameters else self._stream_whole(parameters)
            pieces = _TextStream(deltas, request.model, self.timeouts.thinking, self._clock)
            try:
                first = await pieces.next_text(seconds)
            except BaseException:
                await pieces.aclose()
                raise
            if first is None:
                raise _empty_reply_error(pieces.finish, request.model)
            return first, pieces

        streamed = {STREAM: True, "stream_options": {"include_usage": True}}
        return await self._refused.call(request.model, {**self._chat_parameters(request), **streamed}, send)

    async def _stream_whole(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        """A whole reply as the only part of a stream, for a provider that does not stream."""
        reply = await self._provider.chat(parameters)
        yield StreamDelta(reply.text, reply.finish, reply.spent)

    def _chat_parameters(self, request: ChatRequest) -> CallParameters:
        response_format = {"response_format": {"type": "json_object"}} if request.json else {}
        messages = [
            {"role": message.role, "content": render_content(message, request.model)} for message in request.messages
        ]
        return {**request.model.chat_parameters(), **self._limit_parameters(), **response_format, "messages": messages}

    def _limit_parameters(self) -> CallParameters:
        """Parameters that override litellm: its own timeout is hours, and its client retries."""
        return {"timeout": self.timeouts.timeout, "max_retries": 0}


class _TextStream:
    """An open stream: its texts, and at its end its usage."""

    def __init__(self, pieces: AsyncGenerator[StreamDelta], model: ModelConfig, thinking: float, clock: Clock) -> None:
        self._deltas = pieces
        self._clock = clock
        self._model = model
        self._thinking = ThinkingTime(model.model, thinking, clock)
        self.spent = TokenUsage()
        self.finish = ""
        self._received = 0
        self._repeated = RepeatedDeltas()

    async def next_text(self, seconds: float) -> str | None:
        """The next text, None at the end; `seconds` bound the wait for it, which restarts with each thought.

        A stream that is longer than any reply may be ends as one that reached the model's own limit.
        """
        if self._received > MAX_RECEIVED_CHARACTERS:
            self.finish = TOO_LONG
            log_cut_off("answer", self._model.model, self._received)
            return None
        try:
            async with asyncio.timeout(seconds) as limit:
                async for piece in self._deltas:
                    self.spent = piece.spent or self.spent
                    self.finish = piece.finish or self.finish
                    if piece.text and (text := self._repeated.feed(piece.text)):
                        self._thinking.record_text()
                        self._received += len(text)
                        return text[:MAX_RECEIVED_CHARACTERS]
                    if piece.thought:
                        self._thinking.record_thought()
                        limit.reschedule(asyncio.get_running_loop().time() + seconds)
        except TimeoutError as error:
            raise map_error(error, self._model.model, self._clock.time()) from error
        return self._repeated.finish() or None

    async def aclose(self) -> None:
        """Close the connection, even before the end of the stream."""
        await self._deltas.aclose()


def _lacks_text(reply: ChatReply, text: str, purpose: Purpose) -> bool:
    """Whether the text that a reply should have is missing; an extraction that ended by itself may find nothing."""
    if not reply.text and reply.finish == CONTENT_FILTERED:
        return True
    is_missing = purpose == "summarize" or (purpose == "extract" and reply.finish in LENGTH_REASONS)
    return is_missing and not text.strip()


def _empty_reply_error(finish: str, model: ModelConfig) -> ModelError:
    if finish == CONTENT_FILTERED:
        return ModelRefused(f"{model.model}: the provider's content filter blocked the reply.")
    if finish == UNFINISHED:
        return ModelUnavailable(f"{model.model} ended its reply before it began.", hint=NO_API_HINT)
    return InvalidReply(
        f"{model.model} returned an empty reply.", hint=OUTPUT_LIMIT_HINT if finish in LENGTH_REASONS else ""
    )


def _build_usage(purpose: Purpose, model: ModelConfig, spent: TokenUsage) -> Usage:
    return Usage(purpose, model.model, spent.input_tokens, spent.output_tokens, spent.cost)
