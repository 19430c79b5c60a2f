"""The engine: opens the stores and models of a data directory, and delegates each method to the right service."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.answers.answer import Answer, AnswerService
from engine.answers.name_lookup import NameLookup
from engine.boundary import (
    MAX_RESULTS,
    check_document,
    check_number,
    check_options,
    check_passages,
    check_place,
    guard_public_methods,
)
from engine.clock import SYSTEM_CLOCK
from engine.data_dir import DataDir
from engine.errors import DiskReadOnly, StoreError
from engine.ingest.amendment import amend_document
from engine.ingest.chunking import build_chunks
from engine.ingest.worker import IngestWorker
from engine.llm.default_models import resolve_models
from engine.maintenance import Maintenance
from engine.models import Scope
from engine.options import EngineOptions
from engine.parsers.sandbox.pool import FileParser
from engine.parts.corrections import ManualCorrections
from engine.parts.documents import DocumentInput
from engine.parts.graph import GraphLookup
from engine.projection.duplicate_finder import DuplicateFinder
from engine.projection.open_stores import check_embedder, check_given_stores
from engine.projection.projector import Projector
from engine.projection.storage import open_storage
from engine.retrieval.retriever import Retriever
from engine.runtime import Runtime, RuntimeView
from engine.scheduling.processes import has_others
from engine.scheduling.supervisor import Supervisor
from engine.storage.disk_reserve import list_disk_problems
from engine.storage.ledger import validate_document
from engine.storage.ledger.records import DocumentChange
from engine.storage.sqlite.database import FileAccess
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Sequence
    from datetime import date
    from typing import Literal

    import numpy as np

    from engine.clock import Clock
    from engine.errors import EngineError
    from engine.knowledge.duplicates.report import DuplicateReport
    from engine.llm.base import Embedder, LanguageModel, Reranker
    from engine.models import Chunk, Context, Document, LLMMessage, Passage, Question
    from engine.projection.open_stores import Stores
    from engine.projection.verify import VerificationReport
    from engine.storage.ledger.records import DocumentInfo, DocumentStatus, IndexingDay, IndexStatus

Result = TypeVar("Result")

READ_ONLY = "The database takes no changes. Questions are answered; what is new waits until it takes them again."


@guard_public_methods
class Engine(ManualCorrections, DocumentInput, NameLookup, GraphLookup, RuntimeView):
    """A knowledge base in a data directory: add documents, ask questions. Open it with `Engine.open`.

    Text arguments are repaired to valid Unicode; times without a zone are UTC. Once closed, it raises EngineClosed.
    """

    def __init__(self, folder: DataDir, runtime: Runtime) -> None:
        self.data_dir = folder
        self._runtime = runtime
        self._clock = runtime.clock
        self._ledger = runtime.ledger
        self._projector = Projector(runtime)
        self._duplicate_finder = DuplicateFinder(runtime)
        self._worker = IngestWorker(runtime, self._projector, self._duplicate_finder)
        self._retriever = Retriever(runtime)
        self._answer_service = AnswerService(runtime, self._retriever)
        self._maintenance = Maintenance(runtime, self._projector, self._worker, folder.journal.remove_leftovers)
        self._parser = FileParser()

    @classmethod
    @asynccontextmanager
    async def open(  # noqa: PLR0913  - each part by its name; all but the path have a default
        cls,
        path: Path | str,
        *,
        language: LanguageModel | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        options: EngineOptions | None = None,
        stores: Stores | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> AsyncIterator[Engine]:
        """Lock the data directory, open its stores (or use those given), and resume the work of the last run.

        Without `language` answers are quotations (offline); without `embedder` the built-in one makes the vectors.
        If the options name a database, it holds the data instead; `processes` are those that work on it. Raises
        DatabaseInUse if one of them must be alone.
        """
        folder, options, supervisor = DataDir(Path(path)), options or EngineOptions(), Supervisor(clock)
        check_options(options)
        async with AsyncExitStack() as stack:
            language, embedder = resolve_models(language, embedder, stack)
            claim = stack.enter_context(folder.claim(0 if options.database else options.disk_reserve_bytes))
            refusal = claim.refusal
            if options.database and isinstance(refusal, DiskReadOnly):  # else the disk of the database decides
                raise refusal
            refusal = None if options.database else refusal
            stack.push_async_callback(supervisor.stop)
            storage = await open_storage(folder, options, supervisor, claim, clock, stack)
            async with storage.processes.lease("start"):
                ledger = await storage.open_ledger(stack)
                if refusal is None:
                    await ledger.corrections.set_automatic_joins(enabled=options.join_duplicates)
                await check_embedder(ledger, embedder, options, lost=stores is None and not storage.has_vectors)
                if stores is not None:
                    await check_given_stores(ledger, stores, embedder)
                stores = stores or await storage.open_stores(ledger, embedder, stack)
                runtime = Runtime(
                    ledger=ledger,
                    graph=stores.graph,
                    vectors=stores.vectors,
                    language=language,
                    embedder=embedder,
                    reranker=reranker,
                    options=options,
                    supervisor=supervisor,
                    processes=storage.processes,
                    reserve=claim.reserve,
                    refusal=refusal,
                    clock=clock,
                )
                engine = cls(folder, runtime)
                await stack.enter_async_context(engine._parser)
                await engine._start()
            stack.push_async_callback(engine._stop)
            yield engine

    async def _start(self) -> None:
        if self._runtime.refusal is not None:
            self._worker.block(self._runtime.refusal)
            return
        await self._ledger.work.resume()
        await self._ledger.work.retry_after_change(self._runtime.reader)
        if await self._ledger.work.get_setting("reindexing"):
            if await has_others(self.processes):
                self._maintenance.resume_reindex()
            else:
                await self._maintenance.start_reindex()
        self._worker.start()
        self._maintenance.start()

    async def _stop(self) -> None:
        self._closed = True
        await self._maintenance.stop()
        await self._worker.stop()
        await self._projector.stop()

    async def _write(self, write: Awaitable[Result]) -> Result:
        """Await a write to the ledger and wake the worker to process the changes."""
        result = await write
        self._worker.wake()
        return result

    # Documents.

    async def add(self, document: Document) -> bool:
        """Add a document, or replace the one with the same key; returns whether anything changed.

        It is stored on return; indexing continues in the background (see `wait_until_indexed`). Raises InvalidDocument,
        and DiskFull while the reserve of the disk is in use.
        """
        check_document(document)
        document = validate_document(document)
        self._runtime.reserve.check_room()
        chunks = await asyncio.to_thread(self._build_chunks, document)
        return await self._write(self._ledger.documents.save(document, chunks))

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
        changed = await amend_document(self._runtime, key, change)
        self._worker.wake()
        return changed

    async def _has_entity(self, name: str, space: str) -> bool:
        return await self.get_entity(name, Scope.of(space)) is not None

    def _build_chunks(self, document: Document) -> list[Chunk]:
        return build_chunks(document.passages, self._runtime.tokenizer, self._runtime.options.chunking)

    async def wait_until_indexed(self) -> None:
        """Return once every added document is indexed or has failed; does not wait for cooldowns."""
        await self._maintenance.run_with_recovery(self._maintenance.wait_until_indexed)

    async def forget(self, key: str) -> bool:
        """Delete a document and the facts that only it states; returns whether it existed."""
        return await self._write(self._ledger.documents.delete(key))

    async def compact(self) -> None:
        """Erase the bytes of deleted content from the files; this also runs periodically."""
        await self._maintenance.run_with_recovery(self._maintenance.compact)

    async def move_room(self, room: str, space: str) -> int:
        """Move a room and its documents to a space, because its visibility changed; returns the number of documents.

        Documents added to the room later belong to that space too, whatever space they name, until the next move.
        """
        check_place(space, room)
        return await self._write(self._ledger.documents.move_room(room, space))

    async def forget_room(self, room: str) -> int:
        """Delete a room's documents, corrections and space; returns the number of documents."""
        return await self._write(self._ledger.documents.delete_room(room))

    async def retry(self, key: str = "") -> int:
        """Retry failed work of one document, or of all; returns the number of documents."""
        return await self._write(self._ledger.work.retry_documents(key))

    @property
    def indexing_error(self) -> EngineError | None:
        """The error that currently blocks indexing, if any; indexing is retried."""
        return self._worker.indexing_error

    @property
    def extraction_failures(self) -> int:
        """Model calls for extraction that failed since the start."""
        return self._worker.extraction_failures

    async def list_obstacles(self) -> list[str]:
        """Why the data cannot be read now, for the administrator; a database server that hangs gives no answer."""
        try:
            await self._ledger.work.get_setting("reindexing")
        except StoreError as error:
            return [str(error)]
        return []

    async def count_given_up(self) -> int:
        """Documents, entities and relations of all spaces of which something was given up."""
        return await self._ledger.work.count_given_up()

    async def count_pending_documents(self) -> int:
        """Documents of all spaces that are not completely indexed yet."""
        return await self._ledger.work.count_pending_documents()

    async def list_problems(self) -> list[str]:
        """Current failures of background work, for the administrator; covers all spaces."""
        blocked = [] if self.indexing_error is None else [f"Indexing is waiting: {self.indexing_error}"]
        failures = await self._ledger.work.list_failure_reasons()
        refusing = [READ_ONLY] if self.processes.is_read_only else []
        disk = self._list_disk_problems()
        return [*refusing, *disk, *self.supervisor.list_problems(), *blocked, *failures]

    def check_room(self) -> None:
        """Raise DiskFull if the disk has no room for new documents."""
        self._runtime.reserve.check_room()

    @property
    def file_access(self) -> FileAccess:
        """How other databases in the data directory use its disk."""
        return FileAccess(self._runtime.reserve.release, self._runtime.refusal)

    def _list_disk_problems(self) -> list[str]:
        return list_disk_problems(self._runtime.reserve, self._runtime.refusal)

    def check_writable(self) -> None:
        """Raise DiskError if the disk of the data takes no writes, so that only questions are answered."""
        if (refusal := self._runtime.refusal) is not None:
            raise type(refusal)(str(refusal), hint=refusal.hint)

    async def ask(self, question: Question, *, use_cache: bool = True) -> Answer:
        """Retrieve a context and return an answer to iterate over: it streams text with citations [1], [2], ….

        Its `context` is complete at once, its `sources` and `usage` at the end. Without `use_cache` the model answers
        again what it answered before. Raises InvalidQuestion and ModelError.
        """
        ask = self._answer_service.ask
        return await self._maintenance.run_with_recovery(lambda: ask(question, use_cache=use_cache))

    async def retrieve(self, question: Question) -> Context:
        """Retrieve the context of a question without answering it. Raises InvalidQuestion and ModelError."""
        return await self._maintenance.run_with_recovery(lambda: self._answer_service.retrieve_context(question))

    async def build_messages(self, question: Question) -> list[LLMMessage]:
        """The messages that `ask` would send to the model, for inspection."""
        return await self._maintenance.run_with_recovery(lambda: self._answer_service.build_messages(question))

    async def record_usage(self, meter: UsageMeter) -> None:
        """Count the model calls of a caller that prepares documents."""
        if meter.items:
            await self._ledger.cache.add_usage(self._clock.now().date().isoformat(), meter.items)

    # Queries.

    async def get_status(self, scope: Scope) -> IndexStatus:
        """Counts of documents, entities, relations and pending work in the scope."""
        found = await self._ledger.stats.load_index_status(scope)
        return replace(found, background=(*self._list_disk_problems(), *self.supervisor.list_problems()))

    async def list_indexing_usage(self, since: date, *, space: str = "", prefix: str = "") -> list[IndexingDay]:
        """What indexing took on each day (UTC) since one: of a space, or of those whose names have a prefix."""
        return await self._ledger.stats.list_indexing_usage(space, prefix, since.isoformat())

    async def list_documents(self, scope: Scope) -> list[DocumentInfo]:
        """The documents in the scope, without their passages."""
        return await self._ledger.stats.list_documents(scope)

    async def get_document(self, key: str, scope: Scope) -> Document:
        """A document with its passages. Raises NotFound if it is not in the scope."""
        return await self._ledger.documents.load(key, scope)

    async def get_document_status(self, key: str, scope: Scope) -> DocumentStatus:
        """The indexing progress of a document. Raises NotFound if it is not in the scope."""
        return await self._ledger.stats.load_document_status(key, scope)

    async def _read_graph(self, read: Callable[[], Awaitable[Result]]) -> Result:
        return await self._maintenance.run_with_recovery(read)

    async def measure_similarities(self, texts: Sequence[str]) -> np.ndarray:
        """The similarity of each two texts, shape (n, n): 1 for equal, about 0 for unrelated. Raises ModelError."""
        similarities = await self._runtime.embedder.measure_similarities(texts, meter := UsageMeter())
        await self.record_usage(meter)
        return similarities

    async def find_duplicates(self, scope: Scope, limit: int = 50, *, compare_all: bool = True) -> DuplicateReport:
        """Names of the scope's spaces that may mean the same entity, and those that were joined automatically.

        `compare_all` first compares all new names; otherwise the report counts those that are not compared yet.
        """
        check_number("limit", limit, 1, MAX_RESULTS)
        if compare_all:
            await self._maintenance.run_with_recovery(self._duplicate_finder.compare_all)
        return await self._duplicate_finder.find_duplicates(scope, limit)

    async def export(self, file_format: Literal["jsonl", "graphml"], scope: Scope) -> AsyncGenerator[str, None]:
        """Yield the lines of an export of the scope's spaces: everything as JSON Lines, or the graph as GraphML."""
        async with aclosing(self._ledger.export(file_format, scope)) as lines:
            async for line in lines:
                yield line

    async def backup(self, path: Path) -> str:
        """Copy the ledger as of one moment to a file; returns its checksum. All else can be rebuilt from it."""
        return await self._ledger.copy_to(path)

    async def reindex(self) -> None:
        """Rebuild graph and vectors from the ledger; extraction and summaries are not repeated."""
        await self._maintenance.start_reindex()
        await self.wait_until_indexed()

    async def verify(self, *, repair: bool = False) -> VerificationReport:
        """Check the ledger, and graph and vectors against it; `repair` fixes differences. Raises CorruptLedger."""
        await self._ledger.check_integrity()
        await self.wait_until_indexed()
        return await self._maintenance.run_with_recovery(lambda: self._maintenance.verify(repair=repair))
