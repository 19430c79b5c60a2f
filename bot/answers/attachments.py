"""Ingest the files of a question, and wait for them up to a limit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

import structlog

from bot import texts
from bot.i18n import gettext
from bot.ingest.files import RejectedFile
from bot.platform.models import Message
from bot.store import FileRecord

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from bot.answers.draft import AnswerDraft
    from bot.answers.request import AnswerRequest
    from bot.ingest.files import FileIngest, FileResult
    from engine import Clock

log = structlog.get_logger(__name__)


class Attachments:
    """The files of one question. On exit, waits until they are ingested, however long the answer waited for them."""

    def __init__(self, request: AnswerRequest, filing: FileIngest, limit: float, clock: Clock) -> None:
        self._request = request
        self._file_ingest = filing
        self._limit = limit
        self._clock = clock
        self._ingest_task: asyncio.Task[Sequence[FileResult]] | None = None

    async def __aenter__(self) -> Self:
        if self._request.uploads:
            self._ingest_task = asyncio.create_task(self._ingest_files())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ingest_task is None:
            return
        if kind is not None:
            self._ingest_task.cancel()
            await asyncio.gather(self._ingest_task, return_exceptions=True)
            return
        outcomes = await self._ingest_task
        if isinstance(self._request.origin, Message):
            await self._file_ingest.confirm(self._request.origin, outcomes)

    async def prompt_for_question(self, draft: AnswerDraft) -> None:
        """Reply to an empty question, or to files without one."""
        if draft.request.overheard:
            draft.silent = True
            return
        draft.text, draft.failed = gettext(texts.EMPTY_QUESTION), True
        if draft.request.uploads:
            notes: list[str] = []
            pending = (gettext(texts.FILE_NOT_READY), gettext(texts.FILE_NOT_READ))
            read = await self.wait_for_documents(notes) or (len(notes) == 1 and notes[0] in pending)
            draft.text = gettext(texts.FILE_RECEIVED) if read else " ".join(notes) or gettext(texts.EMPTY_QUESTION)

    async def wait_for_documents(self, notes: list[str]) -> frozenset[str]:
        """The documents once they are searchable; or none, and a notice that says so."""
        if self._ingest_task is None:
            return frozenset()
        until = self._clock.monotonic() + self._limit
        keys = await self._ingested_keys(self._ingest_task, notes)
        if keys and not await self._file_ingest.wait_for_indexed(keys, max(0.0, until - self._clock.monotonic())):
            notes.append(gettext(texts.FILE_NOT_READY))
            return frozenset()
        return frozenset(keys)

    async def _ingested_keys(self, taking: asyncio.Task[Sequence[FileResult]], notes: list[str]) -> tuple[str, ...]:
        """The keys of the files that were ingested within the limit."""
        if not (await asyncio.wait({taking}, timeout=self._limit))[0]:
            notes.append(gettext(texts.FILE_NOT_READY))
            return ()
        if error := taking.exception():
            log.warning("answer.attachments_failed", reference=self._request.reference, error=type(error).__name__)
            notes.append(gettext(texts.FILE_NOT_READ))
            return ()
        outcomes = taking.result()
        refused = [each for each in outcomes if isinstance(each, RejectedFile)]
        filed = [each for each in outcomes if isinstance(each, FileRecord)]
        if isinstance(self._request.origin, Message):  # its author alone is told more when it is confirmed
            notes += [gettext(texts.FILE_REFUSED)] if refused else []
        else:
            notes += [texts.file_refused(each.name, each.reason) for each in refused]
            names = {each.id: each.name for each in self._request.uploads}
            notes += await self._file_ingest.describe_gaps(
                (each.document, names.get(each.upload_id, "")) for each in filed
            )
        return tuple(each.document for each in filed)

    async def _ingest_files(self) -> Sequence[FileResult]:
        origin = self._request.origin
        if isinstance(origin, Message):
            return await self._file_ingest.ingest(origin, with_question=True, quiet=self._request.overheard)
        if origin is None:
            return ()
        return await self._file_ingest.ingest_from_command(origin, self._request.time, private=origin.private)
