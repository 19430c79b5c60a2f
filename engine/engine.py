"""The engine: opens the stores and models of a data directory, and builds the parts that programs call."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.answers.answer import Answer, AnswerService
from engine.boundary import OpenState, check_options, guard_public_methods
from engine.clock import SYSTEM_CLOCK
from engine.data_dir import DataDir
from engine.errors import DiskReadOnly
from engine.ingest.rereading import extraction_choice
from engine.ingest.worker import IngestWorker
from engine.llm.base import EventRequest
from engine.llm.builtin_models import resolve_models
from engine.maintenance import StoreMaintenance
from engine.options import EngineOptions
from engine.parsers.sandbox.pool import FileParser
from engine.parts.corrections import EngineCorrections
from engine.parts.documents import EngineDocuments
from engine.parts.graph import EngineGraph
from engine.parts.maintenance import EngineMaintenance
from engine.projection.duplicate_finder import DuplicateFinder
from engine.projection.embedder_change import VectorsState, choose_embedder
from engine.projection.open_stores import check_given_stores
from engine.projection.projector import Projector
from engine.projection.storage import open_storage
from engine.retrieval.retriever import Retriever
from engine.runtime import Runtime, recall_scale
from engine.scheduling.processes import has_others
from engine.scheduling.supervisor import Supervisor
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import numpy as np

    from engine.clock import Clock
    from engine.data_dir import FolderClaim
    from engine.errors import DiskError
    from engine.llm.base import Embedder, LanguageModel, Reranker
    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.models import Context, LLMMessage, Question, Source
    from engine.projection.open_stores import Stores
    from engine.projection.storage import Storage
    from engine.storage.ledger import LedgerStore


@guard_public_methods
class Engine:
    """A knowledge base in a data directory: add documents, ask questions. Open it with `Engine.open`.

    Its parts are `documents`, `graph`, `corrections` and `maintenance`. `supervisor` runs background tasks, those of
    programs too; `processes` are those that work on the data; `database` is the address of the one that holds the data,
    "" if files in the data directory do. `languages`: those that texts and questions are in, as they are set. Text
    arguments are repaired to valid Unicode; times without a zone are UTC. Once closed, the engine and its parts raise
    EngineClosed.
    """

    def __init__(self, folder: DataDir, runtime: Runtime) -> None:
        self.data_dir = folder
        self.clock = runtime.clock
        self.supervisor = runtime.supervisor
        self.processes = runtime.processes
        self.database = runtime.options.database
        self.languages = runtime.options.languages
        self._state = state = OpenState()
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._projector = Projector(runtime)
        duplicate_finder = DuplicateFinder(runtime)
        self._worker = worker = IngestWorker(runtime, self._projector, duplicate_finder)
        self._store_maintenance = store_maintenance = StoreMaintenance(
            runtime, self._projector, worker, folder.journal.remove_leftovers, folder.path
        )
        retriever = Retriever(runtime)
        self._answer_service = AnswerService(runtime, retriever)
        self._parser = FileParser()
        self.documents = EngineDocuments(state, runtime, worker, self._parser)
        self.graph = EngineGraph(state, runtime.ledger, retriever, store_maintenance)
        self.corrections = EngineCorrections(state, runtime, worker, self.graph, duplicate_finder, store_maintenance)
        self.maintenance = EngineMaintenance(state, runtime, worker, store_maintenance)

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
        former_embedder: Embedder | None = None,
    ) -> AsyncIterator[Engine]:
        """Lock the data directory, open its stores (or use those given), and resume the work of the last run.

        Without `language` answers are quotations (offline); without `embedder` the built-in one makes the vectors.
        Vectors by another embedder that is built in, or is the `former_embedder`, are searched until all are made
        again. If the options name a database, it holds the data instead; `processes` are those that work on it. Raises
        DatabaseInUse if one of them must be alone.
        """
        folder, options, supervisor = DataDir(Path(path)), options or EngineOptions(), Supervisor(clock)
        check_options(options)
        async with AsyncExitStack() as stack:
            language, embedder = resolve_models(language, embedder, options.languages, stack)
            claim = stack.enter_context(folder.claim(0 if options.database else options.disk_reserve_bytes))
            refusal = _find_refusal(claim, options)
            stack.push_async_callback(supervisor.stop)
            storage = await open_storage(folder, options, supervisor, claim, clock, stack)
            async with storage.processes.lease("start"):
                ledger = await storage.open_ledger(stack)
                if refusal is None:
                    await ledger.joins.set_automatic_joins(enabled=options.join_duplicates)
                given = _GivenVectors(stores, former_embedder, options, is_read_only=refusal is not None)
                embedder = await _choose_embedder(storage, ledger, embedder, given, stack)
                stores = stores or await storage.open_stores(ledger, embedder, former_embedder, stack)
                runtime = Runtime(
                    ledger=ledger,
                    graph=stores.graph,
                    vectors=stores.vectors,
                    former=stores.former,
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
        await self._ledger.documents.record_chunking(repr(self._runtime.options.chunking))
        if (prefixes := self._runtime.options.spaces_without_people) is not None:
            await self._ledger.removed_people.begin(prefixes)
        await self._ledger.work.retry_after_change(self._runtime.reader)
        await self._ledger.readings.begin_check(extraction_choice(self._runtime.language))
        if self._runtime.language.is_extractive:
            await self._ledger.work.accept_unknown()
        if await self._ledger.settings.get("reindexing"):
            if await has_others(self.processes):
                self._store_maintenance.resume_reindex()
            else:
                await self._store_maintenance.start_reindex()
        if (await self._ledger.embedders.load_places()).changed_at:
            self._store_maintenance.resume_embedder_change()
        self._worker.start()
        self._store_maintenance.start()

    async def _stop(self) -> None:
        self._state.close()
        await self._store_maintenance.stop()
        await self._worker.stop()
        await self._projector.stop()

    async def ask(self, question: Question, *, use_cache: bool = True) -> Answer:
        """Retrieve a context and return an answer to iterate over: it streams text with citations [1], [2], ….

        Its `context` is complete at once, its `sources` and `usage` at the end. Without `use_cache` the model answers
        again what it answered before. Raises InvalidQuestion and ModelError.
        """
        ask = self._answer_service.ask
        return await self._store_maintenance.run_with_recovery(lambda: ask(question, use_cache=use_cache))

    async def retrieve(self, question: Question) -> Context:
        """Retrieve the context of a question without answering it. Raises InvalidQuestion and ModelError."""
        return await self._store_maintenance.run_with_recovery(lambda: self._answer_service.retrieve_context(question))

    async def build_messages(self, question: Question) -> list[LLMMessage]:
        """The messages that `ask` would send to the model, for inspection."""
        return await self._store_maintenance.run_with_recovery(lambda: self._answer_service.build_messages(question))

    async def wait_until_indexed(self) -> None:
        """Return once every added document is indexed or has failed; does not wait for cooldowns."""
        await self._store_maintenance.run_with_recovery(self._store_maintenance.wait_until_indexed)

    async def judge_event(self, awaited: str, messages: Sequence[Source]) -> bool | None:
        """Whether the last of some messages says what somebody waits for; None if no model can tell."""
        return await self._answer_service.judge_event(EventRequest(awaited, messages))

    async def measure_similarities(self, texts: Sequence[str]) -> np.ndarray:
        """The similarity of each two texts, shape (n, n): 1 for equal, about 0 for unrelated. Raises ModelError."""
        similarities = await self._runtime.embedder.measure_similarities(texts, meter := UsageMeter())
        await self.maintenance.record_usage(meter)
        return similarities


@dataclass(frozen=True, slots=True)
class _GivenVectors:
    """What the caller of `Engine.open` gives of the vectors, and whether nothing can be written."""

    stores: Stores | None
    former_embedder: Embedder | None
    options: EngineOptions
    is_read_only: bool


def _find_refusal(claim: FolderClaim, options: EngineOptions) -> DiskError | None:
    """Why nothing can be written; None if it can, or if a database decides that."""
    if not options.database:
        return claim.refusal
    if isinstance(claim.refusal, DiskReadOnly):
        raise claim.refusal
    return None


async def _choose_embedder(
    storage: Storage, ledger: LedgerStore, embedder: Embedder, given: _GivenVectors, stack: AsyncExitStack
) -> CheckedEmbedder:
    """The embedder to use, with its scale. Raises EmbedderMismatch if the vectors are another one's."""
    state = VectorsState(
        are_lost=given.stores is None and not storage.has_vectors((await ledger.embedders.load_places()).present),
        are_kept=given.stores is None and given.options.open_stores is None,
        is_alone=not await has_others(storage.processes),
        is_read_only=given.is_read_only,
        former_embedder=given.former_embedder,
    )
    chosen = await choose_embedder(ledger, embedder, given.options, state, stack)
    await recall_scale(ledger, chosen)
    if given.stores is not None:
        await check_given_stores(ledger, given.stores, chosen)
    return chosen
