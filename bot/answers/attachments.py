"""Ingest the files of a question, and wait for them up to a limit."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
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

    from bot.answers.question import AnswerRequest
    from bot.ingest.files import FileIngest, FileResult
    from engine import Clock

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ReadyFiles:
    """The documents of the files of a question that are searchable, and what is said of the others."""

    documents: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()


class Attachments:
    """The files of one question. On exit, waits until they are ingested, however long the answer waited for them."""

    def __init__(self, request: AnswerRequest, file_ingest: FileIngest, limit: float, clock: Clock) -> None:
        self._request = request
        self._file_ingest = file_ingest
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

    async def prompt_for_question(self) -> str:
        """The reply to files without a question, or to nothing at all."""
        if not self._request.uploads:
            return gettext(texts.EMPTY_QUESTION)
        ready = await self.wait_for_documents()
        pending = {(gettext(texts.FILE_NOT_READY),), (gettext(texts.FILE_NOT_READ),)}
        if ready.documents or ready.notices in pending:
            return gettext(texts.FILE_RECEIVED)
        return " ".join(ready.notices) or gettext(texts.EMPTY_QUESTION)

    async def wait_for_documents(self) -> ReadyFiles:
        """The documents once they are searchable; or none, and a notice that says so."""
        if self._ingest_task is None:
            return ReadyFiles()
        until = self._clock.monotonic() + self._limit
        ready = await self._wait_for_ingest(self._ingest_task)
        remaining = max(0.0, until - self._clock.monotonic())
        if ready.documents and not await self._file_ingest.wait_for_indexed(ready.documents, remaining):
            return ReadyFiles(notices=(*ready.notices, gettext(texts.FILE_NOT_READY)))
        return ready

    async def _wait_for_ingest(self, task: asyncio.Task[Sequence[FileResult]]) -> ReadyFiles:
        """The files that were ingested within the limit."""
        if not (await asyncio.wait({task}, timeout=self._limit))[0]:
            return ReadyFiles(notices=(gettext(texts.FILE_NOT_READY),))
        if error := task.exception():
            log.warning("answer.attachments_failed", reference=self._request.reference, error=type(error).__name__)
            return ReadyFiles(notices=(gettext(texts.FILE_NOT_READ),))
        outcomes = task.result()
        ingested = [outcome for outcome in outcomes if isinstance(outcome, FileRecord)]
        refused = [outcome for outcome in outcomes if isinstance(outcome, RejectedFile)]
        return ReadyFiles(
            frozenset(outcome.document for outcome in ingested), await self._list_notices(ingested, refused)
        )

    async def _list_notices(self, ingested: Sequence[FileRecord], refused: Sequence[RejectedFile]) -> tuple[str, ...]:
        """What is said of files that could not be read, or only in part."""
        if isinstance(self._request.origin, Message):  # its author alone is told more when it is confirmed
            return (gettext(texts.FILE_REFUSED),) if refused else ()
        names = {upload.id: upload.name for upload in self._request.uploads}
        gaps = await self._file_ingest.describe_gaps(
            (record.document, names.get(record.upload_id, "")) for record in ingested
        )
        return (*(texts.file_refused(file.name, file.reason) for file in refused), *gaps)

    async def _ingest_files(self) -> Sequence[FileResult]:
        origin = self._request.origin
        if isinstance(origin, Message):
            return await self._file_ingest.ingest(origin, with_question=True, quiet=self._request.overheard)
        if origin is None:
            return ()
        return await self._file_ingest.ingest_from_command(origin, self._request.time, private=origin.private)
