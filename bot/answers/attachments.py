"""The files that come with a question: taken in beside its answer, and waited for no longer than a limit."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Self

import structlog

from bot import texts
from bot.ingest.files import Refused
from bot.platform.models import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from bot.answers.request import Request
    from bot.ingest.files import Filing, Outcome

log = structlog.get_logger(__name__)


class Enclosed:
    """The files of one question. Leaving it waits until they are taken in, however long the answer waited for them."""

    def __init__(self, request: Request, filing: Filing, limit: float) -> None:
        self._request = request
        self._filing = filing
        self._limit = limit
        self._taking: asyncio.Task[Sequence[Outcome]] | None = None

    async def __aenter__(self) -> Self:
        if self._request.files:
            self._taking = asyncio.create_task(self._take())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._taking is None:
            return
        if kind is not None:
            self._taking.cancel()
            await asyncio.gather(self._taking, return_exceptions=True)
            return
        outcomes = await self._taking
        if isinstance(self._request.origin, Message):
            await self._filing.confirm(self._request.origin, outcomes)

    async def ready(self, notes: list[str]) -> frozenset[str]:
        """The documents, once they can be found; or none, and a note that says so."""
        if self._taking is None:
            return frozenset()
        until = time.monotonic() + self._limit
        keys = await self._taken(self._taking, notes)
        if keys and not await self._filing.wait(keys, max(0.0, until - time.monotonic())):
            notes.append(texts.FILE_UNREADY)
            return frozenset()
        return frozenset(keys)

    async def _taken(self, taking: asyncio.Task[Sequence[Outcome]], notes: list[str]) -> tuple[str, ...]:
        """The keys of the files that were taken in within the limit."""
        if not (await asyncio.wait({taking}, timeout=self._limit))[0]:
            notes.append(texts.FILE_UNREADY)
            return ()
        if error := taking.exception():
            log.warning("files_unread", reference=self._request.reference, error=type(error).__name__)
            notes.append(texts.FILE_UNREAD)
            return ()
        outcomes = taking.result()
        notes += [texts.refused_file(each.name, each.reason) for each in outcomes if isinstance(each, Refused)]
        return tuple(each.document for each in outcomes if not isinstance(each, Refused))

    async def _take(self) -> Sequence[Outcome]:
        origin = self._request.origin
        if isinstance(origin, Message):
            return await self._filing.take(origin, asked=True)
        return await self._filing.learn(origin, self._request.time) if origin is not None else ()
