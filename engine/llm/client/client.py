"""Model calls in turn, in time, tried again where that may help, with usage; whoever really calls is a `Provider`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import stamina

from engine.boundary import well_formed
from engine.errors import LanguageError, RateLimited, Refused, Unavailable, Unreachable
from engine.llm.client.errors import failure
from engine.llm.client.limiter import PrioritySemaphore
from engine.llm.client.litellm import Direct
from engine.llm.client.protocol import UNFINISHED, Spent
from engine.llm.client.thinking_time import ThinkingTime
from engine.llm.config import Patience
from engine.llm.formats.thinking import without_thoughts
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence

    import numpy as np

    from engine.llm.client.protocol import Parameters, Piece, Provider
    from engine.llm.config import ModelSettings
    from engine.models import Message
    from engine.usage import Bill, Purpose

_T = TypeVar("_T")

MOMENT = 0.5  # seconds between the calls of a question, about
SEEKS, SOON = 2, 0.3  # tries to find somebody at an address, and the seconds between them

# Reasons for the end of a reply that is not whole.
FILTERED = "content_filter"
CUT_OFF = frozenset({"length", "max_tokens", FILTERED, UNFINISHED})

NO_ROOM = "It reached the limit on its reply: raise THREADLORE_MAX_OUTPUT_TOKENS."

RANKS: dict[Purpose, int] = {"answer": 0, "condense": 0, "rerank": 0, "embed": 0, "summarise": 1, "extract": 2}


@dataclass(frozen=True, slots=True)
class Ask:
    """One chat call. `json`: the reply is to be a JSON object."""

    model: ModelSettings
    purpose: Purpose
    messages: Sequence[Message]
    json: bool = False


class Calls:
    """Calls of a provider, with one limit on how many run at once; one place of several is kept free for questions."""

    def __init__(self, at_once: int = 8, patience: Patience | None = None, provider: Provider | None = None) -> None:
        self.patience = patience or Patience()
        self._provider = provider or Direct()
        self._places = PrioritySemaphore(at_once, reserved=1, moment=MOMENT)
        self._again = stamina.AsyncRetryingCaller(
            attempts=self.patience.attempts,
            timeout=self.patience.timeout,  # quick failures are tried again, a call that took all the time is not
            wait_initial=self.patience.first_wait,
            wait_max=self.patience.longest_wait,
            wait_jitter=self.patience.jitter,
        )

    async def ready(self) -> None:
        """Load now what takes seconds, instead of at the first call."""
        await self._provider.ready()

    async def close(self) -> None:
        """Give back what is held open."""
        await self._provider.close()

    async def complete(self, ask: Ask, bill: Bill) -> str:
        """The reply, without thoughts; cut short by the model's own limit it is used as it is. Raises LanguageError."""

        async def call() -> str:
            reply = await self._provider.chat(self._chat(ask))
            bill.add(_usage(ask.purpose, ask.model, reply.spent))
            if not reply.text and reply.finish == FILTERED:
                raise _empty(reply.finish, ask.model)
            return reply.text

        return well_formed(without_thoughts(await self._run(ask.model, RANKS[ask.purpose], call)))

    async def stream(self, ask: Ask, bill: Bill) -> AsyncGenerator[str]:
        """The reply in pieces. Tried again only before the first one; after it, a break raises Unavailable.

        One that ends before the model has finished it is billed as cut off.
        """
        async with self._places.place(RANKS[ask.purpose]), self._open(ask) as (first, pieces):
            piece: str | None = first
            try:
                while piece is not None:
                    yield piece
                    piece = await pieces.next(self.patience.silence)
            finally:
                cut_off = piece is None and pieces.finish in CUT_OFF
                filtered = cut_off and pieces.finish == FILTERED
                spent = _usage(ask.purpose, ask.model, pieces.spent)
                bill.add(replace(spent, cut_off=cut_off, filtered=filtered))

    async def embed(self, model: ModelSettings, texts: Sequence[str], rank: int, bill: Bill) -> np.ndarray:
        """float32 of shape (texts, dim), as the provider gave them. Raises LanguageError."""

        async def call() -> np.ndarray:
            made = await self._provider.embed({"input": list(texts), **model.address(), **self._limits()})
            bill.add(_usage("embed", model, made.spent))
            return made.rows

        return await self._run(model, rank, call)

    async def rerank(
        self, model: ModelSettings, question: str, texts: Sequence[str], bill: Bill
    ) -> Sequence[Mapping[str, Any]]:
        """Rows {index, relevance_score} as the provider gave them. Raises LanguageError."""
        asked = {"query": question, "documents": list(texts), "return_documents": False}

        async def call() -> Sequence[Mapping[str, Any]]:
            made = await self._provider.rerank({**asked, **model.address(), "timeout": self.patience.timeout})
            bill.add(_usage("rerank", model, made.spent))
            return made.rows

        return await self._run(model, RANKS["rerank"], call)

    async def _run(self, model: ModelSettings, rank: int, call: Callable[[], Awaitable[_T]]) -> _T:
        """A call in its turn, in time, tried again where that may help."""
        await self.ready()

        async def once() -> _T:
            async with self._places.place(rank):
                return await self._in_time(model, call())

        return await self._again(_worth_another_try(self.patience), once)

    async def _in_time(self, model: ModelSettings, call: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(self.patience.timeout):
                return await call
        except TimeoutError as error:
            raise failure(error, model.model) from error

    @asynccontextmanager
    async def _open(self, ask: Ask) -> AsyncIterator[tuple[str, _Pieces]]:
        await self.ready()
        first, pieces = await self._again(_worth_another_try(self.patience), self._opened, ask)
        async with aclosing(pieces):
            yield first, pieces

    async def _opened(self, ask: Ask) -> tuple[str, _Pieces]:
        pieces = _Pieces(self._provider.stream(self._chat(ask)), ask.model, self.patience.thinking)
        try:
            first = await pieces.next(self.patience.timeout)
        except BaseException:
            await pieces.aclose()
            raise
        if first is None:
            raise _empty(pieces.finish, ask.model)
        return first, pieces

    def _chat(self, ask: Ask) -> Parameters:
        told = {"response_format": {"type": "json_object"}} if ask.json else {}
        messages = [{"role": message.role, "content": message.content} for message in ask.messages]
        return {**ask.model.parameters(), **self._limits(), **told, "messages": messages}

    def _limits(self) -> Parameters:
        """What every call of litellm must be told, since its own time limit is hours and its client tries again."""
        return {"timeout": self.patience.timeout, "max_retries": 0}


class _Pieces:
    """An open stream: its texts, and at its end what it took."""

    def __init__(self, pieces: AsyncGenerator[Piece], model: ModelSettings, thinking: float) -> None:
        self._pieces = pieces
        self._model = model
        self._thinking = ThinkingTime(model.model, thinking)
        self.spent = Spent()
        self.finish = ""

    async def next(self, seconds: float) -> str | None:
        """The next text, None at the end; `seconds` bound the wait for it, which starts anew with each thought."""
        try:
            async with asyncio.timeout(seconds) as limit:
                async for piece in self._pieces:
                    self.spent = piece.spent or self.spent
                    self.finish = piece.finish or self.finish
                    if piece.text:
                        self._thinking.text()
                        return piece.text
                    if piece.thought:
                        self._thinking.thought()
                        limit.reschedule(asyncio.get_running_loop().time() + seconds)
        except TimeoutError as error:
            raise failure(error, self._model.model) from error
        return None

    async def aclose(self) -> None:
        """Let the connection go, also when nobody wants the rest."""
        await self._pieces.aclose()


def _worth_another_try(patience: Patience) -> Callable[[Exception], bool | float]:
    """For one call: who waits for it is to hear soon that there is nobody at all."""
    sought = count(1)

    def judge(error: Exception) -> bool | float:
        if isinstance(error, Unreachable):
            return next(sought) < SEEKS and SOON
        if not isinstance(error, Unavailable | RateLimited):
            return False
        return True if error.wait is None else error.wait <= patience.longest_wait and error.wait

    return judge


def _empty(finish: str, model: ModelSettings) -> LanguageError:
    if finish == FILTERED:
        return Refused(f"{model.model}: the provider's content filter held the reply back.")
    return Unavailable(f"{model.model} replied with nothing.", hint=NO_ROOM if finish in CUT_OFF else "")


def _usage(purpose: Purpose, model: ModelSettings, spent: Spent) -> Usage:
    return Usage(purpose, model.model, spent.sent, spent.said, spent.cost)
