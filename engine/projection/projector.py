"""The projector drains stale keys: fold, describe, profile, embed, graph and vectors, then the mark goes.

Every step may be repeated without harm: a crash between any two of them leaves the mark, and the next run starts over.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.knowledge.summary_plan import joined, needs_model, newest
from engine.projection.batch import Batch, Made, Outcome, finish, gather, write_profiles
from engine.projection.embedding_text import entity_text, relation_text
from engine.projection.profile_embedder import ProfileEmbedder
from engine.projection.profiles import Folder
from engine.scheduling.batch_gate import Then
from engine.scheduling.tasks import end, together
from engine.storage.graph.base import Edge, Node
from engine.storage.ledger import profiles
from engine.storage.ledger.work import stale_keys, work_queue
from engine.storage.ledger.work.embedding_failures import Failure
from engine.storage.ledger.work.stale_keys import Stale
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from engine.runtime import Runtime
    from engine.storage.ledger.profiles import Key, Kind
    from engine.storage.ledger.work.orphans import Orphans
    from engine.storage.ledger.work.stale_keys import Mark


SHORT_BATCH = 256  # keys of a batch while questions are asked


def _former(keys: Iterable[Key]) -> dict[int, bytes | None]:
    return {key.id: key.embedded for key in keys}


@dataclass(slots=True)
class Projector:
    """Keeps profiles, graph and vectors in step with the facts, batch after batch.

    `ticks` is raised before and after what was held for a quiet period comes due; `_in_step` is what it was when a
    batch was taken that left nothing behind and is delivered, `_took_all` the same for such a batch under way.
    `unsure`: after a crash or a failure the graph may hold more than the ledger knows, so it is looked up first.
    `proved`: the last step showed that batches can be delivered. `graph_writing` is held while the graph is written.
    `without_graph`: a rebuild fills the graph at its end, all at once.
    """

    runtime: Runtime
    unsure: bool = True
    ticks: int = 0
    without_graph: bool = False
    proved: bool = True
    renewed: set[tuple[Stale, int]] = field(default_factory=set)
    graph_writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _stepping: asyncio.Lock = field(default_factory=asyncio.Lock)
    _delivery: asyncio.Task[None] | None = None
    _under_way: tuple[Mark, ...] = ()
    _took_all: int | None = None
    _in_step: int = 0

    @property
    def ticked(self) -> bool:
        """Whether a quiet period has ended since everything was last in step."""
        return self.ticks > self._in_step

    async def step(self) -> Then:
        """Fold one batch while the one before it is put into graph and vectors; says what follows."""
        async with self._stepping:
            limit, newest = self.runtime.options.project_batch, self.runtime.options.describing.fragments
            if self.runtime.priority.recent:
                limit = min(limit, SHORT_BATCH)
            ticks = self.ticks
            batch = await self.runtime.ledger.read(gather, limit, newest, self._under_way)
            try:
                made = None if batch.empty else await self._fold(batch)
                busy = await self._delivered()
                self.proved = busy or made is None
            except BaseException:
                self._in_doubt()
                raise
            if made is None:
                if not busy:
                    self._caught_up(ticks)
                return Then.GO_ON if busy else Then.REST
            then = Then.after(len(batch.marks), limit)
            self._under_way, self._took_all = batch.marks, ticks if then is Then.GATHER else None
            self._delivery = asyncio.create_task(self._deliver(made), name="projector delivers")
            return then

    def _caught_up(self, ticks: int) -> None:
        """All that was stale at that tick is in graph and vectors."""
        self.unsure, self._in_step = False, ticks

    def _in_doubt(self) -> None:
        """Something failed: the graph is looked up first, and what was summarised for nothing is not kept waiting."""
        self.unsure, self._took_all = True, None
        self.renewed.clear()

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """Nothing is projected while this is held."""
        async with self._stepping:
            await self._delivered()
            yield

    async def stop(self) -> None:
        """Let go at once; the marks remain."""
        if self._delivery is not None:
            await end(self._delivery)

    async def _delivered(self) -> bool:
        """Wait for the delivery under way; says whether there was one. Raises what it failed of."""
        delivery, self._delivery = self._delivery, None
        if delivery is None:
            return False
        try:
            await delivery
        except BaseException:
            await end(delivery)
            self._in_doubt()
            raise
        finally:
            self._under_way = ()
        if self._took_all is not None:
            self._caught_up(self._took_all)
        return True

    async def end_quiet(self) -> None:
        """A new period begins: every hot key may be summarised once more."""
        self.renewed.clear()
        self.ticks += 1
        await self.runtime.ledger.write(stale_keys.release_held)
        await self.runtime.ledger.write(work_queue.due_summaries, time.time())
        self.ticks += 1  # a batch that was taken meanwhile has not seen all of this

    async def _fold(self, batch: Batch) -> Made:
        """Fold and describe a batch, and write its profiles."""
        bill = Bill()
        held = self._held(batch)
        names = [each for key in batch.names if (each := self._due(key, Stale.NAME, held))]
        pairs = [each for key in batch.pairs if (each := self._due(key, Stale.PAIR, held))]
        runtime = self.runtime
        folder = Folder(
            runtime.ledger, runtime.language, runtime.tokenizer.count, runtime.options.describing, runtime.priority
        )
        entities, relations = await together(folder.entities(names, bill), folder.relations(pairs, bill))
        await self.runtime.priority.after_you()
        gone_names = {key.id for key in names if not key.told} | batch.gone_names
        gone_pairs = {key.id for key in pairs if not key.told} | batch.gone_pairs
        made = Made(batch, held, names, pairs, entities, relations, gone_names, gone_pairs, bill)
        await self.runtime.ledger.write(write_profiles, made)
        return made

    async def _deliver(self, made: Made) -> None:
        """Put a folded batch into graph and vectors; then its marks go."""
        await self.runtime.priority.after_you()
        surfaces = made.batch.ends | {row.id: row.label for row in made.entities}
        entity_texts = [(row, entity_text(row)) for row in made.entities]
        relation_texts = [(row, relation_text(row, surfaces)) for row in made.relations]
        _, entities, relations = await together(
            self._graph(made.names, made.pairs, made.gone_names),
            self._vectors(Stale.NAME).put(entity_texts, _former(made.names), made.bill),
            self._vectors(Stale.PAIR).put(relation_texts, _former(made.pairs), made.bill),
        )
        failed = entities.failed | relations.failed
        gone = {(Stale.NAME, id_) for id_ in made.gone_names} | {(Stale.PAIR, id_) for id_ in made.gone_pairs}
        if made.gone_names:
            await self.runtime.vectors.drop("entities", made.gone_names)
        if made.gone_pairs:
            await self.runtime.vectors.drop("relations", made.gone_pairs)
        outcome = Outcome(
            [mark for mark in made.batch.marks if (mark.kind, mark.id) not in made.held | failed.keys()],
            [mark for mark in made.batch.marks if (mark.kind, mark.id) in made.held - failed.keys()],
            [] if self.without_graph else [row.id for row in made.entities],
            [] if self.without_graph else [row.id for row in made.relations],
            entities.embedded,
            relations.embedded,
            [Failure(mark, failed[mark.kind, mark.id]) for mark in made.batch.marks if (mark.kind, mark.id) in failed],
            self.runtime.options.embed_attempts,
            made.gone_pairs,
            [mark for mark in made.batch.marks if (mark.kind, mark.id) in gone],
            made.bill,
        )
        await self.runtime.priority.after_you()
        await self.runtime.ledger.write(finish, outcome)

    async def drop_from_graph(self, found: Orphans) -> None:
        """Let keys of which nothing is left leave the graph at once, whatever else is under way."""
        if not self.without_graph and (found.names or found.edges):
            async with self.graph_writing:
                await self.runtime.graph.drop(found.names, [Edge(id_, a, b, 0.0) for id_, a, b in found.edges])

    async def drop_from_vectors(self, found: Orphans) -> None:
        """Let keys of which nothing is left leave the vectors at once, whatever else is under way."""
        await self.runtime.vectors.drop("chunks", found.chunks)
        await self.runtime.vectors.drop("entities", found.names)
        await self.runtime.vectors.drop("relations", found.pairs)

    def _held(self, batch: Batch) -> set[tuple[Stale, int]]:
        """The keys of the batch that need the model, and must wait for the end of the quiet period.

        They were given it in this period, or there is much to read: then whole periods pass before it is asked.
        """
        count, limits = self.runtime.tokenizer.count, self.runtime.options.describing
        needing = {
            (kind, key.id)
            for kind, keys in ((Stale.NAME, batch.names), (Stale.PAIR, batch.pairs))
            for key in keys
            if key.told and key.pin is None and needs_model([row.text for row in key.told.fragments], count, limits)
        }
        held = needing if batch.reading_left and not self.ticked else needing & self.renewed
        self.renewed |= needing - held
        return held

    def _due(self, key: Key, kind: Stale, held: set[tuple[Stale, int]]) -> Key | None:
        """The key as it is folded now: a held one only if it has no profile, with its newest descriptions joined."""
        if (kind, key.id) not in held:
            return key
        if key.described or key.told is None:
            return None
        limits = self.runtime.options.describing
        return replace(key, pin=joined(newest(key.told.fragments, limits), self.runtime.tokenizer.count, limits))

    async def _graph(self, names: Sequence[Key], pairs: Sequence[Key], dropped: Collection[int]) -> None:
        if self.without_graph:
            return
        known = {key.id: self._known(key) for key in names}
        touched = {key.id for key in names} | {end for key in pairs for end in key.ends}
        rows = await self.runtime.ledger.read(profiles.nodes, touched)
        nodes = [
            Node(id_, space, known.get(id_, self._known(None)))
            for id_, space, graphed in rows
            if not graphed or self.unsure  # a node holds nothing that could change
        ]
        # What was forgotten since the batch was gathered is stale again: a pair that has lost an end comes once more.
        there = {id_ for id_, *_ in rows}
        told = [key for key in pairs if key.told and there.issuperset(key.ends)]
        weights = await self.runtime.ledger.read(profiles.weights, [key.id for key in told])
        edges = [Edge(key.id, *key.ends, weights[key.id], self._known(key)) for key in told if key.id in weights]
        gone = [Edge(key.id, *key.ends, 0.0) for key in pairs if not key.told]
        async with self.graph_writing:
            await self.runtime.graph.put(nodes, edges)
            if gone or dropped:
                await self.runtime.graph.drop(dropped, gone)

    def _vectors(self, kind: Kind) -> ProfileEmbedder:
        return ProfileEmbedder(self.runtime.embedder, self.runtime.tokenizer, self.runtime.vectors, kind)

    def _known(self, key: Key | None) -> bool | None:
        if key is not None and key.graphed:
            return True
        return None if self.unsure else False
