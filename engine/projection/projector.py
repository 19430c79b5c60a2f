"""Process stale keys: merge facts, describe, embed, update graph and vectors, then remove the stale keys.

Every step can be repeated: a crash between any two of them leaves the stale keys, and the next run starts over.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.knowledge.merge import join_newest, needs_model, select_newest
from engine.projection.embedding_text import KeyClaims, ProfileEmbedder, entity_text, relation_text
from engine.projection.summaries import ProfileBuilder
from engine.scheduling.foreground import NextStep
from engine.scheduling.supervisor import cancel_tasks, gather_or_cancel
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.ledger.records import (
    BatchResult,
    EmbeddingFailure,
    FoldedBatch,
    KeyKind,
    ProjectionBatch,
)
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Sequence

    from engine.runtime import Runtime
    from engine.storage.ledger.records import KeyFacts, OrphanKeys, ProfileKind, StaleKey


COOLDOWN_TOPIC = "cooldown ended"
FOREGROUND_BATCH_SIZE = 256  # keys per batch while questions are asked


def _embedded_hashes(keys: Iterable[KeyFacts]) -> dict[int, bytes | None]:
    return {key.id: key.embedding_hash for key in keys}


@dataclass(slots=True)
class Projector:
    """Keeps profiles, graph and vectors in step with the facts, batch after batch.

    `summarized_keys`: of this process and cooldown; a process more may summarize a hot key once more in a cooldown.
    `cooldown_ticks` is incremented before and after keys held for a cooldown are released; `_synced_tick` is its value
    when a batch was read that left nothing behind and is delivered, `_complete_at_tick` the same for such a batch in
    delivery. `graph_uncertain`: after a crash or a failure the graph may hold more than the ledger knows, so it is
    looked up first. `can_deliver`: the last step showed that batches can be delivered. `graph_lock` is held while the
    graph is written. `skip_graph`: a reindex fills the graph at its end, all at once.
    """

    runtime: Runtime
    graph_uncertain: bool = True
    cooldown_ticks: int = 0
    skip_graph: bool = False
    can_deliver: bool = True
    summarized_keys: set[tuple[KeyKind, int]] = field(default_factory=set)
    graph_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _step_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _delivery: asyncio.Task[None] | None = None
    _delivering_keys: tuple[StaleKey, ...] = ()
    _complete_at_tick: int | None = None
    _synced_tick: int = 0
    _claims: KeyClaims = field(init=False)

    def __post_init__(self) -> None:
        self._claims = KeyClaims(self.runtime, KeyKind.NAME)
        self.runtime.processes.subscribe(COOLDOWN_TOPIC, self._restart_cooldown)

    @property
    def cooldown_ended(self) -> bool:
        """Whether a cooldown has ended since everything was last in sync."""
        return self.cooldown_ticks > self._synced_tick

    async def step(self) -> NextStep:
        """Fold one batch while the previous one is written to graph and vectors; returns the next step."""
        async with self._step_lock:
            limit, newest = (
                self.runtime.options.projection_batch_size,
                self.runtime.options.summary_limits.max_fragments,
            )
            if self.runtime.priority.is_recent:
                limit = min(limit, FOREGROUND_BATCH_SIZE)
            ticks = self.cooldown_ticks
            keys = await self._claims.claim(limit, self._delivering_keys)
            try:
                folded = await self._fold(await self._load_batch(keys, newest)) if keys else None
                busy = await self._finish_delivery()
                self.can_deliver = busy or folded is None
            except BaseException as error:
                self._record_failure()
                if isinstance(error, EngineError):
                    await self._claims.release()
                raise
            if folded is None:
                if not busy:
                    self._record_synced(ticks)
                return NextStep.CONTINUE if busy else NextStep.IDLE
            then = NextStep.after_batch(len(keys), limit)
            self._delivering_keys, self._complete_at_tick = keys, ticks if then is NextStep.GATHER else None
            self._delivery = asyncio.create_task(self._deliver(folded), name="deliver projection")
            return then

    async def _load_batch(self, keys: Sequence[StaleKey], newest: int) -> ProjectionBatch:
        return await self.runtime.ledger.profiles.load_batch(keys, newest, self.runtime.clock.time())

    def _record_synced(self, ticks: int) -> None:
        """Record that everything stale at that tick is in graph and vectors."""
        self.graph_uncertain, self._synced_tick = False, ticks

    def _record_failure(self) -> None:
        """Look up the graph first after a failure, and let keys whose summary was lost be summarized again."""
        self.graph_uncertain, self._complete_at_tick = True, None
        self.summarized_keys.clear()

    @asynccontextmanager
    async def suspend(self) -> AsyncIterator[None]:
        """Suspend projection while this is held."""
        async with self._step_lock:
            await self._finish_delivery()
            yield

    async def stop(self) -> None:
        """Stop at once; the stale keys remain."""
        if self._delivery is not None:
            await cancel_tasks(self._delivery)

    async def _finish_delivery(self) -> bool:
        """Wait for the delivery in progress; returns whether there was one. Raises its error."""
        delivery, self._delivery = self._delivery, None
        if delivery is None:
            return False
        try:
            await delivery
        except BaseException:
            await cancel_tasks(delivery)
            self._record_failure()
            raise
        finally:
            self._delivering_keys = ()
        if self._complete_at_tick is not None:
            self._record_synced(self._complete_at_tick)
        return True

    async def end_cooldown(self) -> None:
        """End the cooldown in all processes: every hot key may be summarized once more."""
        self._restart_cooldown()
        await self.runtime.ledger.stale_keys.release_held()
        await self.runtime.ledger.profiles.requeue_due_summaries(self.runtime.clock.time())
        self.runtime.processes.notify(COOLDOWN_TOPIC)  # a batch that was read in between has not seen all of this

    def _restart_cooldown(self) -> None:
        self.summarized_keys.clear()
        self.cooldown_ticks += 1

    async def _fold(self, batch: ProjectionBatch) -> FoldedBatch:
        """Merge and describe a batch, and write its profiles."""
        await self.runtime.indexing_budget.refresh()
        meter = UsageMeter()
        held = self._held_keys(batch)
        names = [each for key in batch.names if (each := self._due_key(key, KeyKind.NAME, held))]
        pairs = [each for key in batch.pairs if (each := self._due_key(key, KeyKind.PAIR, held))]
        runtime = self.runtime
        folder = ProfileBuilder(
            runtime.ledger,
            runtime.language,
            runtime.tokenizer.count,
            runtime.options.summary_limits,
            runtime.clock,
            runtime.summary_failures,
            runtime.indexing_budget,
            runtime.priority,
        )
        entities, relations = await gather_or_cancel(
            folder.build_entities(names, meter), folder.build_relations(pairs, meter)
        )
        await self.runtime.priority.yield_to_foreground()
        gone_names = {key.id for key in names if not key.counts} | batch.removed_names
        gone_pairs = {key.id for key in pairs if not key.counts} | batch.removed_pairs
        folded = FoldedBatch(batch, held, names, pairs, entities, relations, gone_names, gone_pairs, meter)
        await self.runtime.ledger.profiles.save_batch(folded)
        return folded

    async def _deliver(self, folded: FoldedBatch) -> None:
        """Write a folded batch to graph and vectors; then remove its stale keys."""
        await self.runtime.priority.yield_to_foreground()
        surfaces = folded.batch.end_names | {row.id: row.label for row in folded.entities}
        entity_texts = [(row, entity_text(row)) for row in folded.entities]
        relation_texts = [(row, relation_text(row, surfaces)) for row in folded.relations]
        _, entities, relations = await gather_or_cancel(
            self._update_graph(folded.names, folded.pairs, folded.removed_names),
            self._profile_embedder(KeyKind.NAME).upsert(entity_texts, _embedded_hashes(folded.names), folded.usage),
            self._profile_embedder(KeyKind.PAIR).upsert(relation_texts, _embedded_hashes(folded.pairs), folded.usage),
        )
        failed = entities.failed | relations.failed
        gone = {(KeyKind.NAME, id_) for id_ in folded.removed_names} | {
            (KeyKind.PAIR, id_) for id_ in folded.removed_pairs
        }
        if folded.removed_names:
            await self.runtime.vectors.delete("entities", folded.removed_names)
        if folded.removed_pairs:
            await self.runtime.vectors.delete("relations", folded.removed_pairs)
        outcome = BatchResult(
            [mark for mark in folded.batch.stale_keys if (mark.kind, mark.id) not in folded.held | failed.keys()],
            [mark for mark in folded.batch.stale_keys if (mark.kind, mark.id) in folded.held - failed.keys()],
            [] if self.skip_graph else [row.id for row in folded.entities],
            [] if self.skip_graph else [row.id for row in folded.relations],
            entities.embedded,
            relations.embedded,
            [
                EmbeddingFailure(mark, failed[mark.kind, mark.id])
                for mark in folded.batch.stale_keys
                if (mark.kind, mark.id) in failed
            ],
            self.runtime.options.max_embed_attempts,
            folded.removed_pairs,
            [mark for mark in folded.batch.stale_keys if (mark.kind, mark.id) in gone],
            folded.indexing_usage,
        )
        await self.runtime.priority.yield_to_foreground()
        await self.runtime.ledger.profiles.finish_batch(outcome, self.runtime.clock.time())

    async def remove_from_graph(self, orphans: OrphanKeys) -> None:
        """Delete keys without facts from the graph at once, whatever else runs."""
        if not self.skip_graph and (orphans.names or orphans.edges):
            async with self.graph_lock:
                await self.runtime.graph.delete(
                    orphans.names, [GraphEdge(id_, a, b, 0.0) for id_, a, b in orphans.edges]
                )

    async def remove_from_vectors(self, orphans: OrphanKeys) -> None:
        """Delete keys without facts from the vectors at once, whatever else runs."""
        await self.runtime.vectors.delete("chunks", orphans.chunks)
        await self.runtime.vectors.delete("entities", orphans.names)
        await self.runtime.vectors.delete("relations", orphans.pairs)

    def _held_keys(self, batch: ProjectionBatch) -> set[tuple[KeyKind, int]]:
        """Keys of the batch that need the model and must wait for the end of the cooldown.

        They were summarized in this cooldown, or many chunks are not extracted yet: then whole cooldowns pass first.
        """
        count, limits = self.runtime.tokenizer.count, self.runtime.options.summary_limits
        needing = {
            (kind, key.id)
            for kind, keys in ((KeyKind.NAME, batch.names), (KeyKind.PAIR, batch.pairs))
            for key in keys
            if key.counts
            and key.pinned_description is None
            and needs_model([row.text for row in key.counts.fragments], count, limits)
        }
        held = needing if batch.has_unextracted and not self.cooldown_ended else needing & self.summarized_keys
        self.summarized_keys |= needing - held
        return held

    def _due_key(self, key: KeyFacts, kind: KeyKind, held: set[tuple[KeyKind, int]]) -> KeyFacts | None:
        """The key as it is folded now: a held one only if it has no profile, with its newest descriptions joined."""
        if (kind, key.id) not in held:
            return key
        if key.has_profile or key.counts is None:
            return None
        limits = self.runtime.options.summary_limits
        return replace(
            key,
            pinned_description=join_newest(
                select_newest(key.counts.fragments, limits), self.runtime.tokenizer.count, limits
            ),
        )

    async def _update_graph(
        self, names: Sequence[KeyFacts], pairs: Sequence[KeyFacts], removed_names: Collection[int]
    ) -> None:
        if self.skip_graph:
            return
        in_graph = {key.id: self._exists_in_graph(key) for key in names}
        touched = {key.id for key in names} | {end for key in pairs for end in key.ends}
        rows = await self.runtime.ledger.profiles.load_graph_nodes(touched)
        nodes = [
            GraphNode(id_, space, in_graph.get(id_, self._exists_in_graph(None)))
            for id_, space, graphed in rows
            if not graphed or self.graph_uncertain  # a node has no data that could change
        ]
        # Facts deleted since the batch was read are stale again: a pair that has lost an end is processed once more.
        node_ids = {id_ for id_, *_ in rows}
        existing = [key for key in pairs if key.counts and node_ids.issuperset(key.ends)]
        weights = await self.runtime.ledger.profiles.load_weights([key.id for key in existing])
        edges = [
            GraphEdge(key.id, *key.ends, weights[key.id], self._exists_in_graph(key))
            for key in existing
            if key.id in weights
        ]
        gone = [GraphEdge(key.id, *key.ends, 0.0) for key in pairs if not key.counts]
        async with self.graph_lock:
            await self.runtime.graph.upsert(nodes, edges)
            if gone or removed_names:
                await self.runtime.graph.delete(removed_names, gone)

    def _profile_embedder(self, kind: ProfileKind) -> ProfileEmbedder:
        return ProfileEmbedder(self.runtime.embedder, self.runtime.tokenizer, self.runtime.vectors, kind)

    def _exists_in_graph(self, key: KeyFacts | None) -> bool | None:
        if key is not None and key.exists_in_graph:
            return True
        return None if self.graph_uncertain else False
