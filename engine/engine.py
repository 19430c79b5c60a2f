"""The engine: documents in, cited answers out. Opens the stores, and hands each verb to the room that does it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from engine.answers.answer import Answer, Asker
from engine.boundary import Closable, guarded
from engine.bounds import MOST_RESULTS, OPTIONS, check_number, check_numbers
from engine.data_dir import Folder
from engine.errors import NotFound
from engine.ingest.amendment import amend
from engine.ingest.chunking import chunks
from engine.ingest.worker import Worker
from engine.knowledge.manual_facts import stated
from engine.llm.checked_embedder import checked
from engine.maintenance import Housekeeper
from engine.options import Options
from engine.projection.open_stores import check_embedder, open_stores
from engine.projection.projector import Projector
from engine.retrieval.retriever import Neighbourhood, Recaller
from engine.runtime import Runtime
from engine.scheduling.supervisor import Supervisor
from engine.storage.graph.graphml import graphml
from engine.storage.ledger import Ledger, corrections
from engine.storage.ledger.content import documents
from engine.storage.ledger.queries import lookup, stats
from engine.storage.ledger.work import embedding_failures, work_queue
from engine.text.names import canonical

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Literal

    from engine.errors import EngineError
    from engine.llm.base import Embedder, Language, Reranker
    from engine.models import Chunk, Context, Document, EntityRow, Message, Passage, Question, Reading, Scope
    from engine.projection.open_stores import Stores
    from engine.projection.verify import Report
    from engine.storage.ledger.queries.stats import Listed, Stage, Status
    from engine.storage.sqlite.connection import Connection

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


@guarded
class Engine(Closable):
    """One data folder with all that is known, and the skills to read and to answer. Open it with `Engine.open`.

    Texts that come in are made well-formed, times without a zone read as UTC. Once closed, everything raises Closed.
    """

    def __init__(self, folder: Folder, runtime: Runtime) -> None:
        self.folder = folder
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._projector = Projector(runtime)
        self._worker = Worker(runtime, self._projector)
        self._recaller = Recaller(runtime)
        self._asker = Asker(runtime, self._recaller)
        self._housekeeper = Housekeeper(runtime, self._projector, self._worker)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        home: Path,
        *,
        language: Language,
        embedder: Embedder,
        reranker: Reranker | None = None,
        options: Options | None = None,
        stores: Stores | None = None,
    ) -> AsyncIterator[Engine]:
        """Own the folder, open its stores (or use those given), and go on where the last run stopped."""
        folder, options, supervisor = Folder(home), options or Options(), Supervisor()
        check_numbers(options, OPTIONS)
        async with AsyncExitStack() as stack:
            stack.enter_context(folder.owned())
            folder.check_ledger()
            stack.push_async_callback(supervisor.stop)
            ledger = await Ledger.open(folder.ledger, options.words, supervisor)
            stack.push_async_callback(ledger.close)
            lost = stores is None and not folder.vectors.exists()
            await check_embedder(ledger, embedder, options, lost=lost)
            stores = stores or await open_stores(folder, ledger, embedder.dim, options, stack, supervisor)
            both = stores.graph, stores.vectors
            engine = cls(folder, Runtime(ledger, *both, language, checked(embedder), reranker, options, supervisor))
            await engine._start()
            stack.push_async_callback(engine._stop)
            yield engine

    @property
    def supervisor(self) -> Supervisor:
        """Runs the background tasks of this engine, and of the program around it."""
        return self._runtime.supervisor

    async def _start(self) -> None:
        await self._ledger.write(work_queue.resume)
        if await self._ledger.read(work_queue.setting, "rebuilding"):
            await self._housekeeper.begin_rebuild()
        self._worker.start()
        self._housekeeper.start()

    async def _stop(self) -> None:
        self._closed = True
        await self._housekeeper.stop()
        await self._worker.stop()
        await self._projector.stop()

    async def _change(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Write to the ledger, and let the worker see to what is stale then."""
        result = await self._ledger.write(work, *args, **kwargs)
        self._worker.wake()
        return result

    # Documents.

    async def add(self, document: Document) -> bool:
        """Take a document in, or make what is known of it equal to this one: durably; says whether anything changed."""
        document = documents.checked(document)
        cut = await asyncio.to_thread(self._cut, document)
        return await self._change(documents.put, document, cut)

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
        changed = await amend(self._runtime, key, documents.Change(tuple(put), frozenset(drop), open))
        self._worker.wake()
        return changed

    def _cut(self, document: Document) -> list[Chunk]:
        return chunks(document.passages, self._runtime.tokenizer, self._runtime.options.packing)

    async def settled(self) -> None:
        """Return once every accepted document is indexed or failed; quiet periods are skipped."""
        await self._housekeeper.mending(self._housekeeper.settled)

    async def forget(self, key: str) -> bool:
        """Remove a document with all that rests on it alone; says whether there was one."""
        return await self._change(documents.forget, key)

    async def compact(self) -> None:
        """Let forgotten bytes leave the files (this also happens by itself)."""
        await self._housekeeper.mending(self._housekeeper.compact)

    async def move_room(self, room: str, space: str) -> int:
        """A room's visibility changed: it is in this space now, with its documents (their number is given).

        That holds for documents which come later, too, whatever space their callers name, until it is moved again.
        """
        return await self._change(documents.move_room, room, space)

    async def leave_room(self, room: str) -> int:
        """Forget a room: its documents (their number is given), the corrections made there, and where it was."""
        return await self._change(documents.leave_room, room)

    async def retry(self, key: str = "") -> int:
        """Take up again what failed, of one document or of all; gives the number of documents."""
        return await self._change(work_queue.retry, key)

    @property
    def hindrance(self) -> EngineError | None:
        """What keeps documents from being indexed at the moment, if anything does; it is tried again."""
        return self._worker.hindrance

    async def limitations(self) -> list[str]:
        """What fails at the moment or was given up, of everything: for whoever runs the program."""
        waits = [] if self.hindrance is None else [f"Indexing waits: {self.hindrance}"]
        return [*self.supervisor.complaints(), *waits, *await self._ledger.read(embedding_failures.given_up)]

    async def ask(self, question: Question) -> Answer:
        """Recall, then answer as a stream; what was recalled is known before the first word."""
        return await self._housekeeper.mending(lambda: self._asker.ask(question))

    async def recall(self, question: Question) -> Context:
        """What an answer would rest on, without the answer."""
        return await self._housekeeper.mending(lambda: self._asker.context(question))

    async def prompt(self, question: Question) -> list[Message]:
        """What the model would be sent for the answer."""
        return await self._housekeeper.mending(lambda: self._asker.messages(question))

    # What is there.

    async def status(self, scope: Scope) -> Status:
        """Numbers about what lies within the scope."""
        async with self._ledger.reader() as db:
            found = await stats.status(db, await lookup.area(db, scope))
        return replace(found, background=tuple(self.supervisor.complaints()))

    async def documents(self, scope: Scope) -> list[Listed]:
        """The documents within the scope."""
        async with self._ledger.reader() as db:
            return await stats.documents(db, await lookup.area(db, scope))

    async def document(self, key: str, scope: Scope) -> Document:
        """A document with its passages. Raises NotFound if there is none within the scope."""
        found = await self._ledger.read(documents.load, key)
        if found.space not in scope.spaces and found.room not in scope.rooms:
            raise NotFound(f"There is no document “{key}”.")
        return found

    async def stage(self, key: str, scope: Scope) -> Stage:
        """How far a document within the scope has come. Raises NotFound if there is none."""
        async with self._ledger.reader() as db:
            return await stats.stage(db, key, await lookup.area(db, scope))

    async def entity(self, name: str, scope: Scope) -> EntityRow | None:
        """What is known of a name, or of an alias of it, within the scope's spaces."""
        return await self._housekeeper.mending(lambda: self._recaller.entity(name, scope))

    async def neighbourhood(self, name: str, scope: Scope, limit: int = 30) -> Neighbourhood:
        """An entity with its weightiest relations, within the scope's spaces."""
        check_number("limit", limit, 1, MOST_RESULTS)
        return await self._housekeeper.mending(lambda: self._recaller.neighbourhood(name, scope, limit))

    async def names(self, prefix: str, scope: Scope, limit: int = 25) -> list[str]:
        """Names of entities that begin like this, the most mentioned first, within the scope's spaces."""
        check_number("limit", limit, 1, MOST_RESULTS)
        begun = canonical(prefix) or prefix.strip().casefold()  # "1" is no name yet, but may begin one
        async with self._ledger.reader() as db:
            return await lookup.names_like(db, begun, await lookup.area(db, scope), limit)

    async def export(self, form: Literal["jsonl", "graphml"], scope: Scope) -> AsyncGenerator[str, None]:
        """Lines of everything in the scope's spaces: canonical JSON Lines, or the graph as GraphML."""
        async with self._ledger.stream() as db:
            made = stats.canonical(db, scope.spaces) if form == "jsonl" else graphml(db, await lookup.area(db, scope))
            async with aclosing(made) as lines:
                async for line in lines:
                    yield line

    async def backup(self, path: Path) -> str:
        """Copy the ledger as of one moment, from which all else can be made anew; gives its checksum."""
        return await self._ledger.copy_to(path)

    # Corrections by hand.

    # With `room`, the room in which it was said, a correction follows that room when it moves.

    async def merge(self, space: str, name: str, into: str, *, room: str = "") -> list[str]:
        """Let a name lead to another one; gives what is not known of the two yet. Raises NotFound if that is both."""
        return await self._change(corrections.merge, space, name, into, room)

    async def unmerge(self, space: str, name: str, *, room: str = "") -> None:
        """Let a name stand for itself again."""
        await self._change(corrections.unmerge, space, name, room)

    async def pin(self, space: str, name: str, description: str, other: str = "", *, room: str = "") -> None:
        """Let a description override the fold of a name, or of a pair; "" takes it back."""
        await self._change(corrections.pin, space, (name, other), description, room)

    async def hide(self, space: str, name: str, other: str = "", *, room: str = "") -> None:
        """Take an entity with its relations, or one relation, out of sight."""
        await self._change(corrections.hide, space, (name, other), room, hidden=True)

    async def unhide(self, space: str, name: str, other: str = "", *, room: str = "") -> None:
        """Show it again."""
        await self._change(corrections.hide, space, (name, other), room, hidden=False)

    async def state(self, space: str, room: str, told: Reading, *, time: datetime | None = None) -> str:
        """Entities and relations told by a person; gives the key of the document that holds them."""
        document = stated(space, room, told, time)
        await self._change(documents.state, document, self._cut(document), told)
        return document.key

    async def rebuild(self) -> None:
        """Make both projections anew from the ledger; reading and summaries are not repeated."""
        await self._housekeeper.begin_rebuild()
        await self.settled()

    async def verify(self, *, repair: bool = False) -> Report:
        """Check the ledger, and compare both projections with it; `repair`: mark what differs and project it anew.

        Raises DamagedLedger.
        """
        await self._ledger.check()
        await self.settled()
        return await self._housekeeper.mending(lambda: self._housekeeper.verify(repair=repair))
