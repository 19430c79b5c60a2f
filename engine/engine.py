"""The engine: documents in, cited answers out. Opens the stores, and hands each verb to the room that does it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.answers.answer import Answer, AnswerService
from engine.boundary import guard_public_methods
from engine.bounds import MAX_RESULTS, check_number, check_options
from engine.data_dir import DataDir
from engine.document_input import DocumentInput
from engine.ingest.amendment import amend_document
from engine.ingest.chunking import build_chunks
from engine.ingest.worker import IngestWorker
from engine.knowledge.manual_facts import build_manual_document
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.default_models import resolve_models
from engine.maintenance import Maintenance
from engine.options import EngineOptions
from engine.parsers.sandbox.pool import FileParser
from engine.projection.open_stores import check_embedder, open_stores
from engine.projection.projector import Projector
from engine.retrieval.retriever import Neighbourhood, Retriever
from engine.runtime import Runtime
from engine.scheduling.supervisor import Supervisor
from engine.storage.ledger import Ledger
from engine.storage.ledger.content import documents
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Collection, Sequence
    from datetime import datetime
    from typing import Literal

    from engine.errors import EngineError
    from engine.llm.base import Embedder, LanguageModel, Reranker
    from engine.models import Chunk, Context, ContextEntity, Document, Extraction, LLMMessage, Passage, Question, Scope
    from engine.projection.open_stores import Stores
    from engine.projection.verify import VerificationReport
    from engine.storage.ledger.queries.stats import DocumentInfo, DocumentStatus, IndexStatus

Result = TypeVar("Result")


@guard_public_methods
class Engine(DocumentInput):
    """One data folder with all that is known, and the skills to read and to answer. Open it with `Engine.open`.

    Texts that come in are made well-formed, times without a zone read as UTC. Once closed, everything raises Closed.
    """

    def __init__(self, folder: DataDir, runtime: Runtime) -> None:
        self.data_dir = folder
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._projector = Projector(runtime)
        self._worker = IngestWorker(runtime, self._projector)
        self._retriever = Retriever(runtime)
        self._answer_service = AnswerService(runtime, self._retriever)
        self._maintenance = Maintenance(runtime, self._projector, self._worker)
        self._parser = FileParser()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path | str,
        *,
        language: LanguageModel | None = None,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        options: EngineOptions | None = None,
        stores: Stores | None = None,
    ) -> AsyncIterator[Engine]:
        """Lock the data folder, open its stores (or use those given), and resume the work of the last run.

        Without `language` answers are quotations (offline); without `embedder` the built-in one makes the vectors.
        """
        folder, options, supervisor = DataDir(Path(path)), options or EngineOptions(), Supervisor()
        check_options(options)
        async with AsyncExitStack() as stack:
            language, embedder = resolve_models(language, embedder, stack)
            stack.enter_context(folder.acquire_lock())
            folder.check_ledger()
            stack.push_async_callback(supervisor.stop)
            ledger = await Ledger.open(folder.ledger_path, options.fts_tokenizer, supervisor)
            stack.push_async_callback(ledger.close)
            await check_embedder(ledger, embedder, options, lost=stores is None and not folder.vectors_path.exists())
            stores = stores or await open_stores(folder, ledger, embedder.dim, options, stack, supervisor)
            models = language, wrap_embedder(embedder), reranker
            engine = cls(folder, Runtime(ledger, stores.graph, stores.vectors, *models, options, supervisor))
            await stack.enter_async_context(engine._parser)
            await engine._start()
            stack.push_async_callback(engine._stop)
            yield engine

    @property
    def supervisor(self) -> Supervisor:
        """Runs the background tasks of this engine, and of the program around it."""
        return self._runtime.supervisor

    async def _start(self) -> None:
        await self._ledger.work.resume()
        if await self._ledger.work.get_setting("rebuilding"):
            await self._maintenance.start_rebuild()
        self._worker.start()
        self._maintenance.start()

    async def _stop(self) -> None:
        self._closed = True
        await self._maintenance.stop()
        await self._worker.stop()
        await self._projector.stop()

    async def _write(self, write: Awaitable[Result]) -> Result:
        """Await a write to the ledger, and wake the worker for what is stale then."""
        result = await write
        self._worker.wake()
        return result

    # Documents.

    async def add(self, document: Document) -> bool:
        """Take a document in, or make what is known of it equal to this one: durably; says whether anything changed."""
        document = documents.validate_document(document)
        cut = await asyncio.to_thread(self._build_chunks, document)
        return await self._write(self._ledger.documents.save(document, cut))

    async def amend(
        self,
        key: str,
        put: Sequence[Passage] = (),
        drop: Collection[str] = (),
        *,
        open: bool | None = None,  # noqa: A002 - the design's word
    ) -> bool:
        """Put and drop passages of a document at once; `open=False` closes a conversation, which is then extracted.

        A document of which no passage is left is forgotten. Says whether anything changed.
        """
        changed = await amend_document(self._runtime, key, documents.DocumentChange(tuple(put), frozenset(drop), open))
        self._worker.wake()
        return changed

    def _build_chunks(self, document: Document) -> list[Chunk]:
        return build_chunks(document.passages, self._runtime.tokenizer, self._runtime.options.chunking)

    async def wait_until_indexed(self) -> None:
        """Return once every accepted document is indexed or failed; quiet periods are skipped."""
        await self._maintenance.run_with_recovery(self._maintenance.wait_until_indexed)

    async def forget(self, key: str) -> bool:
        """Remove a document with all that rests on it alone; says whether there was one."""
        return await self._write(self._ledger.documents.delete(key))

    async def compact(self) -> None:
        """Let forgotten bytes leave the files (this also happens by itself)."""
        await self._maintenance.run_with_recovery(self._maintenance.compact)

    async def move_room(self, room: str, space: str) -> int:
        """A room's visibility changed: it is in this space now, with its documents (their number is given).

        That holds for documents which come later, too, whatever space their callers name, until it is moved again.
        """
        return await self._write(self._ledger.documents.move_room(room, space))

    async def forget_room(self, room: str) -> int:
        """Forget a room: its documents (their number is given), the corrections made there, and where it was."""
        return await self._write(self._ledger.documents.delete_room(room))

    async def retry(self, key: str = "") -> int:
        """Take up again what failed, of one document or of all; gives the number of documents."""
        return await self._write(self._ledger.work.retry_documents(key))

    @property
    def indexing_error(self) -> EngineError | None:
        """What keeps documents from being indexed at the moment, if anything does; it is tried again."""
        return self._worker.indexing_error

    async def list_problems(self) -> list[str]:
        """What fails at the moment or was given up, of everything: for whoever runs the program."""
        waits = [] if self.indexing_error is None else [f"Indexing waits: {self.indexing_error}"]
        failures = await self._ledger.work.list_failure_reasons()
        return [*self.supervisor.list_problems(), *waits, *failures]

    async def ask(self, question: Question) -> Answer:
        """Recall, then answer as a stream; what was recalled is known before the first word."""
        return await self._maintenance.run_with_recovery(lambda: self._answer_service.ask(question))

    async def retrieve(self, question: Question) -> Context:
        """What an answer would rest on, without the answer."""
        return await self._maintenance.run_with_recovery(lambda: self._answer_service.retrieve_context(question))

    async def build_messages(self, question: Question) -> list[LLMMessage]:
        """What the model would be sent for the answer."""
        return await self._maintenance.run_with_recovery(lambda: self._answer_service.build_messages(question))

    # What is there.

    async def get_status(self, scope: Scope) -> IndexStatus:
        """Numbers of documents, facts and open work within the scope."""
        found = await self._ledger.stats.load_index_status(scope)
        return replace(found, background=tuple(self.supervisor.list_problems()))

    async def list_documents(self, scope: Scope) -> list[DocumentInfo]:
        """The documents within the scope."""
        return await self._ledger.stats.list_documents(scope)

    async def get_document(self, key: str, scope: Scope) -> Document:
        """A document with its passages. Raises NotFound if there is none within the scope."""
        return await self._ledger.documents.load(key, scope)

    async def get_document_status(self, key: str, scope: Scope) -> DocumentStatus:
        """How far a document within the scope has come. Raises NotFound if there is none."""
        return await self._ledger.stats.load_document_status(key, scope)

    async def get_entity(self, name: str, scope: Scope) -> ContextEntity | None:
        """What is known of a name, or of an alias of it, within the scope's spaces."""
        return await self._maintenance.run_with_recovery(lambda: self._retriever.get_entity(name, scope))

    async def get_neighbourhood(self, name: str, scope: Scope, limit: int = 30) -> Neighbourhood:
        """An entity with its weightiest relations, within the scope's spaces."""
        check_number("limit", limit, 1, MAX_RESULTS)
        return await self._maintenance.run_with_recovery(lambda: self._retriever.get_neighbourhood(name, scope, limit))

    async def find_names(self, prefix: str, scope: Scope, limit: int = 25) -> list[str]:
        """Names of entities that begin like this, the most mentioned first, within the scope's spaces."""
        check_number("limit", limit, 1, MAX_RESULTS)
        begun = normalize_name(prefix) or prefix.strip().casefold()  # "1" is no name yet, but may begin one
        async with self._ledger.snapshot() as view:
            return await view.search.find_names_by_prefix(begun, await view.search.resolve_scope(scope), limit)

    async def export(self, form: Literal["jsonl", "graphml"], scope: Scope) -> AsyncGenerator[str, None]:
        """Lines of everything in the scope's spaces: canonical JSON Lines, or the graph as GraphML."""
        async with aclosing(self._ledger.export(form, scope)) as lines:
            async for line in lines:
                yield line

    async def backup(self, path: Path) -> str:
        """Copy the ledger as of one moment, from which all else can be made anew; gives its checksum."""
        return await self._ledger.copy_to(path)

    # Corrections by hand. With `room`, the room in which it was said, a correction follows that room when it moves.

    async def merge(self, space: str, name: str, into: str, *, room: str = "") -> list[str]:
        """Let a name lead to another one; gives what is not known of the two yet. Raises NotFound if that is both."""
        return await self._write(self._ledger.corrections.merge(space, name, into, room))

    async def unmerge(self, space: str, name: str, *, room: str = "") -> None:
        """Let a name stand for itself again."""
        await self._write(self._ledger.corrections.unmerge(space, name, room))

    async def describe(self, space: str, name: str, description: str, other: str = "", *, room: str = "") -> None:
        """Let a description override the fold of a name, or of a pair; "" takes it back."""
        await self._write(self._ledger.corrections.pin_description(space, (name, other), description, room))

    async def hide(self, space: str, name: str, other: str = "", *, room: str = "") -> None:
        """Take an entity with its relations, or one relation, out of sight."""
        await self._write(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=True))

    async def unhide(self, space: str, name: str, other: str = "", *, room: str = "") -> None:
        """Show it again."""
        await self._write(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=False))

    async def add_facts(self, space: str, room: str, told: Extraction, *, time: datetime | None = None) -> str:
        """Entities and relations told by a person; gives the key of the document that holds them."""
        document = build_manual_document(space, room, told, time)
        await self._write(self._ledger.documents.save_manual(document, self._build_chunks(document), told))
        return document.key

    async def rebuild(self) -> None:
        """Make both projections anew from the ledger; reading and summaries are not repeated."""
        await self._maintenance.start_rebuild()
        await self.wait_until_indexed()

    async def verify(self, *, repair: bool = False) -> VerificationReport:
        """Check the ledger, and compare both projections with it; `repair`: mark what differs and project it anew.

        Raises CorruptLedger.
        """
        await self._ledger.check_integrity()
        await self.wait_until_indexed()
        return await self._maintenance.run_with_recovery(lambda: self._maintenance.verify(repair=repair))
