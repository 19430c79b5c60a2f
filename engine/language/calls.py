"""The one place that calls litellm: lazily imported, in turn, in time, tried again, with our own errors and usage."""

from __future__ import annotations

import asyncio
import importlib
import os
import warnings
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import stamina

from engine.errors import LanguageError, RateLimited, Refused, Unavailable
from engine.language.failures import asked_wait, failure
from engine.language.models import Patience
from engine.language.priority import PrioritySemaphore
from engine.records import Usage
from engine.thoughts import without_thoughts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence

    from engine.language.models import ModelSettings
    from engine.records import Bill, Message, Purpose

_T = TypeVar("_T")

# What pydantic says about litellm's own types at a stream; where warnings are errors, the stream would break on it.
_PYDANTIC_COMPLAINS = ("Item .* on TypedDict class", "Accessing the 'model_(computed_)?fields' attribute")

RANKS: dict[Purpose, int] = {"answer": 0, "condense": 0, "rerank": 0, "embed": 0, "summarise": 1, "extract": 2}


@dataclass(frozen=True, slots=True)
class Ask:
    """One chat call. `json`: the reply is to be a JSON object."""

    model: ModelSettings
    purpose: Purpose
    messages: Sequence[Message]
    json: bool = False


class Calls:
    """Calls of litellm, with one limit on how many run at once; one place of several is kept free for questions."""

    def __init__(self, at_once: int = 8, patience: Patience | None = None) -> None:
        self.patience = patience or Patience()
        self._places = PrioritySemaphore(at_once, reserved=1)
        self._module: Any = None
        self._again = stamina.AsyncRetryingCaller(
            attempts=self.patience.attempts,
            timeout=self.patience.timeout,  # quick failures are tried again, a call that took all the time is not
            wait_initial=self.patience.first_wait,
            wait_max=self.patience.longest_wait,
            wait_jitter=self.patience.jitter,
        )

    async def ready(self) -> None:
        """Import litellm now (seconds, off the loop) instead of at the first call."""
        if self._module is None:
            self._module = await asyncio.to_thread(load)

    async def close(self) -> None:
        """Close the connections that litellm keeps open."""
        if self._module is not None:
            await self._module.close_litellm_async_clients()
            self._module.in_memory_llm_clients_cache.flush_cache()

    async def complete(self, ask: Ask, bill: Bill) -> str:
        """The reply, without thoughts; cut short by the model's own limit it is used as it is. Raises LanguageError."""

        async def call(litellm: Any) -> str:
            reply = await litellm.acompletion(**self._chat(ask))
            bill.add(_usage(ask.purpose, ask.model, reply, _hidden_cost(reply)))
            return _text(reply.choices[0], ask.model)

        return without_thoughts(await self.run(ask.model, RANKS[ask.purpose], call))

    async def stream(self, ask: Ask, bill: Bill) -> AsyncGenerator[str]:
        """The reply in pieces. Tried again only before the first one; after it, a break raises Unavailable."""
        async with self._places.place(RANKS[ask.purpose]), self._open(ask) as (first, pieces):
            piece: str | None = first
            try:
                while piece is not None:
                    yield piece
                    with _translated(ask.model):
                        piece = await pieces.next(self.patience.silence)
            finally:
                cost = _cost(self._module, ask.model, pieces.last)
                bill.add(_usage(ask.purpose, ask.model, pieces.last, cost))

    async def run(self, model: ModelSettings, rank: int, call: Callable[[Any], Awaitable[_T]]) -> _T:
        """What `call` makes of litellm: in its turn, in time, tried again where that may help. Raises LanguageError."""
        await self.ready()

        async def once() -> _T:
            async with self._places.place(rank):
                with _translated(model):
                    async with asyncio.timeout(self.patience.timeout):
                        return await call(_unlogged(self._module))

        return await self._again(self._worth_another_try, once)

    @asynccontextmanager
    async def _open(self, ask: Ask) -> AsyncIterator[tuple[str, _Pieces]]:
        await self.ready()
        first, pieces = await self._again(self._worth_another_try, self._opened, ask)
        try:
            yield first, pieces
        finally:
            await pieces.close()

    async def _opened(self, ask: Ask) -> tuple[str, _Pieces]:
        options = {"stream": True, "stream_options": {"include_usage": True}}
        with _translated(ask.model):
            async with asyncio.timeout(self.patience.timeout):
                pieces = _Pieces(await _unlogged(self._module).acompletion(**self._chat(ask), **options))
            try:
                first = await pieces.next(self.patience.timeout)
            except BaseException:
                await pieces.close()
                raise
            if first is None:
                raise _empty(pieces.finish, ask.model)
            return first, pieces

    def _chat(self, ask: Ask) -> dict[str, Any]:
        told = {"response_format": {"type": "json_object"}} if ask.json else {}
        messages = [{"role": message.role, "content": message.content} for message in ask.messages]
        return {**ask.model.parameters(), **self.limits(), **told, "messages": messages}

    def limits(self) -> dict[str, Any]:
        """What every call of litellm must be told, since its own time limit is hours and its client tries again."""
        return {"timeout": self.patience.timeout, "max_retries": 0}

    def _worth_another_try(self, error: Exception) -> bool | float:
        if not isinstance(error, Unavailable | RateLimited):
            return False
        wait = asked_wait(error.__cause__)
        return True if wait is None else wait <= self.patience.longest_wait and wait


class _Pieces:
    """An open stream: its texts, and at its end the chunk that carries the usage."""

    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks
        self.last: Any = None
        self.finish = ""

    async def next(self, seconds: float) -> str | None:
        """The next text, None at the end; `seconds` bound each wait for a sign of life, thoughts included."""
        while True:
            async with asyncio.timeout(seconds):
                chunk = await anext(self._chunks, None)
            if chunk is None:
                return None
            if getattr(chunk, "usage", None):
                self.last = chunk
            for choice in chunk.choices[:1]:
                self.finish = choice.finish_reason or self.finish
                if choice.delta.content:
                    return str(choice.delta.content)

    async def close(self) -> None:
        """Let the connection go, also when nobody wants the rest."""
        if hasattr(self._chunks, "aclose"):
            await self._chunks.aclose()


def load() -> Any:
    """Import litellm, told beforehand to ask no network for prices, and quiet."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    for message in _PYDANTIC_COMPLAINS:
        warnings.filterwarnings("ignore", message=message)
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


def _unlogged(litellm: Any) -> Any:
    """litellm, told that this task's calls need no logging: nobody listens, and it costs a quarter of a call's time."""
    with suppress(ImportError, AttributeError):  # a part of litellm that may go; then calls are only slower
        importlib.import_module("litellm._internal_context").is_internal_call.set(True)
    return litellm


@contextmanager
def _translated(model: ModelSettings) -> Iterator[None]:
    try:
        yield
    except LanguageError:
        raise
    except Exception as error:
        raise failure(error, model.model, model.api_key) from error


def _text(choice: Any, model: ModelSettings) -> str:
    text = choice.message.content or ""
    if not text and choice.finish_reason == "content_filter":
        raise _empty("content_filter", model)
    return str(text)


def _empty(finish: str, model: ModelSettings) -> LanguageError:
    if finish == "content_filter":
        return Refused(f"{model.model}: the provider's content filter held the reply back.")
    return Unavailable(f"{model.model} replied with nothing.")


def _usage(purpose: Purpose, model: ModelSettings, reply: Any, cost: float) -> Usage:
    told = getattr(reply, "usage", None)
    sent, said = getattr(told, "prompt_tokens", 0) or 0, getattr(told, "completion_tokens", 0) or 0
    return Usage(purpose, model.model, sent, said, cost)


def _hidden_cost(reply: Any) -> float:
    return float(reply._hidden_params.get("response_cost") or 0.0)  # noqa: SLF001  - litellm documents it there


def _cost(litellm: Any, model: ModelSettings, reply: Any) -> float:
    """The price of a stream; nothing where the usage or the price is not known."""
    if reply is None:
        return 0.0
    try:
        told = reply.usage
        return float(sum(litellm.cost_per_token(model.model, told.prompt_tokens, told.completion_tokens)))
    except Exception:  # noqa: BLE001  - litellm raises plain exceptions for models without a price
        return 0.0
