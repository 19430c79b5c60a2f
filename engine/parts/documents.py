"""The documents of an engine: from passages, plain text and files; changed, moved, forgotten and listed."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.boundary import check_document, check_passages, check_place, guard_public_methods, repair_surrogates
from engine.errors import NotFound
from engine.ingest.chunking import add_stems, amend_document, build_chunks
from engine.models import Document
from engine.parsers import plain_text
from engine.parsers.base import read_file_content
from engine.parsers.dates import plausible_time
from engine.retrieval.passage_scores import hides_authors
from engine.storage.ledger import validate_document
from engine.storage.ledger.records import DocumentChange

if TYPE_CHECKING:
    import builtins
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from engine.boundary import OpenState
    from engine.ingest.worker import IngestWorker
    from engine.models import Passage, Scope
    from engine.parsers.sandbox.pool import FileParser
    from engine.runtime import Runtime
    from engine.storage.ledger.records import DocumentInfo, DocumentStatus, ErasedPart, ErasureSize

TEXT_ROOM, FILE_ROOM = "texts", "files"


@guard_public_methods
class EngineDocuments:
    """The documents of an engine. `parser` runs the parsers of files in subprocesses."""

    def __init__(self, state: OpenState, runtime: Runtime, worker: IngestWorker, parser: FileParser) -> None:
        self._state = state
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._worker = worker
        self._parser = parser

    async def add(self, document: Document) -> bool:
        """Add a document, or replace the one with the same key; returns whether anything changed.

        It is stored on return; indexing continues in the background (see `Engine.wait_until_indexed`). Raises
        InvalidDocument, and DiskFull while the reserve of the disk is in use.
        """
        check_document(document)
        document = _without_future(validate_document(document), self._runtime.clock.now())
        self._runtime.reserve.check_room()
        tokenizer, chunking = self._runtime.tokenizer, self._runtime.options.chunking
        if await self._ledger.documents.is_current(document, repr(chunking)):
            return False
        chunks = await asyncio.to_thread(lambda: add_stems(build_chunks(document.passages, tokenizer, chunking)))
        return await self._worker.wake_if_changed(self._ledger.documents.save(document, chunks))

    async def add_text(
        self,
        title: str,
        text: str,
        *,
        space: str,
        key: str = "",
        room: str = TEXT_ROOM,
        time: datetime | None = None,
    ) -> bool:
        """Add plain text, cited by its lines; returns whether anything changed.

        A text with the same key replaces the earlier one. The default key is `text:SPACE:TITLE`. Raises EmptyDocument.
        """
        passages = await asyncio.to_thread(lambda: plain_text.parse(title, text.encode()).parse_whole())
        return await self.add(Document(key or f"text:{space}:{title}", space, room, title, passages, time))

    async def add_file(
        self, path: Path | str, *, space: str, key: str = "", room: str = FILE_ROOM, parser: FileParser | None = None
    ) -> bool:
        """Parse a file in a subprocess and add it; returns whether anything changed.

        A file with the same key replaces the earlier one. The default key is `file:SPACE:ABSOLUTE_PATH`. `parser`: with
        other limits, with OCR, or with a model that describes pictures. Raises NotFound, InvalidDocument (unsupported,
        empty, encrypted, broken or too large) and OSError, and ModelError if a picture could not be described now.
        """
        parser = parser or self._parser
        file, data = await asyncio.to_thread(_read_file, Path(path), parser.limits.max_file_size)
        name = repair_surrogates(file.name)
        parsed = await parser.parse(name, data)
        return await self.add(
            Document(
                key or f"file:{space}:{_printable_path(file)}",
                space,
                room,
                parsed.title or name,
                parsed.passages,
                time=plausible_time(parsed.time, self._runtime.clock.now(), parsed.day),
                link=file.as_uri(),
                omissions=parsed.omissions,
                coverage=parsed.coverage,
            )
        )

    async def amend(
        self, key: str, upsert: Sequence[Passage] = (), remove: Collection[str] = (), *, is_open: bool | None = None
    ) -> bool:
        """Add, replace and remove passages of a document (by their keys) at once; returns whether anything changed.

        `is_open=False` closes a conversation, so that its entities and relations are extracted; None leaves it as it
        is. A document without passages is deleted. Raises NotFound, InvalidDocument, and DiskFull before the reserve of
        the disk is used up.
        """
        if upsert:
            self._runtime.reserve.check_last_room()
        change = DocumentChange(tuple(upsert), frozenset(remove), is_open)
        check_passages(change.upserts)
        return await self._worker.wake_after(amend_document(self._runtime, key, change))

    async def retitle(self, key: str, title: str, link: str, time: datetime | None) -> bool:
        """Give a conversation another title, link and time; returns whether there is one."""
        return await self._ledger.documents.retitle(key, title, link, time)

    async def forget(self, key: str) -> bool:
        """Delete a document and the facts that only it states; returns whether it existed."""
        return await self._worker.wake_after(self._ledger.documents.delete(key))

    async def measure_erasure(self, parts: Sequence[ErasedPart]) -> ErasureSize:
        """How much goes if these documents or passages are forgotten now; nothing is changed."""
        return await self._ledger.erasures.measure(parts)

    async def forget_room(self, room: str) -> int:
        """Delete a room's documents, corrections and space; returns the number of documents."""
        return await self._worker.wake_after(self._ledger.documents.delete_room(room))

    async def move_room(self, room: str, space: str) -> int:
        """Move a room and its documents to a space, because its visibility changed; returns the number of documents.

        Documents added to the room later belong to that space too, whatever space they name, until the next move.
        """
        check_place(space, room)
        return await self._worker.wake_after(self._ledger.documents.move_room(room, space))

    async def list(self, scope: Scope) -> builtins.list[DocumentInfo]:
        """The documents in the scope, without their passages."""
        return await self._ledger.stats.list_documents(scope)

    async def count_by_room(self, scope: Scope, kind: str = "") -> dict[str, int]:
        """The number of documents in each room within a scope, of one kind ("conversation", …) or of all."""
        return await self._ledger.stats.count_by_room(scope, kind)

    async def get_kinds(self, keys: Collection[str], scope: Scope) -> dict[str, str]:
        """The kinds ("conversation", …) of the documents with these keys, as far as they are in the scope."""
        return await self._ledger.stats.list_kinds(keys, scope)

    async def get(self, key: str, scope: Scope) -> Document:
        """A document with its passages. Raises NotFound if it is not in the scope."""
        return await self._ledger.documents.load(key, scope)

    async def get_status(self, key: str, scope: Scope) -> DocumentStatus:
        """The indexing progress of a document. Raises NotFound if it is not in the scope."""
        return await self._ledger.stats.load_document_status(key, scope)

    async def list_authors(self, scope: Scope) -> builtins.list[str]:
        """The names of everybody who wrote something within the scope, in order; none where authors are hidden."""
        if hides_authors(scope, self._runtime.options.spaces_without_authors):
            return []
        return await self._ledger.snapshot(lambda view: view.search.list_authors(view.search.resolve_scope(scope)))


def _read_file(path: Path, limit: int) -> tuple[Path, bytes]:
    """The absolute path and the content of a regular file. Raises NotFound, InvalidDocument and OSError."""
    if not path.exists():
        raise NotFound(f"There is no file {_printable_path(path)}.", hint="Check the path.")
    return path.resolve(), read_file_content(path, limit)


def _printable_path(path: Path) -> str:
    """The path as valid Unicode; other bytes are escaped, so that different files keep different keys."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _without_future(document: Document, now: datetime) -> Document:
    """A file whose sections have no days that are still to come: what they are about is not what was then said."""
    if document.kind != "file":
        return document
    passages = tuple(replace(passage, time=plausible_time(passage.time, now)) for passage in document.passages)
    return replace(document, passages=passages)
