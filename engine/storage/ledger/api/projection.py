"""Repositories of background work: profiles to project, the work queue, and caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.storage.ledger.records.projection import (
        BatchResult,
        CachedAnswer,
        ChunkToEmbed,
        ClaimedKeys,
        EmbeddingFailure,
        FoldedBatch,
        KeyKind,
        OrphanKeys,
        PartialVectors,
        ProjectionBatch,
        SpaceTurn,
        StaleKey,
    )
    from engine.usage import IndexingUsage, Usage


class Profiles(Protocol):
    """Profiles: merged entities and relations, as they are projected into graph and vectors."""

    async def load_batch(self, keys: Sequence[StaleKey], newest: int, now: float) -> ProjectionBatch:
        """The facts of these names and pairs; `newest` limits the descriptions of each key."""

    async def save_batch(self, folded: FoldedBatch) -> None:
        """Save the profiles of a folded batch, and delete those without facts."""

    async def finish_batch(self, result: BatchResult, now: float) -> None:
        """Record what graph and vectors hold now, and remove the stale keys of the batch."""

    async def load_graph_nodes(self, ids: Collection[int]) -> list[tuple[int, int, bool]]:
        """(id, space, is in the graph) of these entities; missing ones are left out."""

    async def load_weights(self, ids: Collection[int]) -> dict[int, int]:
        """The weights of these relations by id; missing ones are left out."""

    async def record_all_graphed(self) -> None:
        """Record that the graph holds every profile."""

    async def requeue_due_summaries(self, now: float) -> int:
        """Mark keys stale whose failed summaries are due again; returns their number."""

    async def find_orphans(self) -> OrphanKeys:
        """Stale keys without facts."""

    async def delete_orphans(self, orphans: OrphanKeys) -> None:
        """Delete the profiles of those that still have no facts."""


class WorkQueue(Protocol):
    """Stale keys, chunks to embed, failures, and the settings of the data directory."""

    async def current_generation(self) -> int:
        """The number of the last change."""

    async def is_idle(self, *, skip_quiet: bool) -> bool:
        """Whether no work is left; `skip_quiet` counts keys held for a quiet period as work."""

    async def has_only_held_keys(self) -> bool:
        """Whether the only work left is held for a quiet period."""

    async def needs_compaction(self) -> bool:
        """Whether deleted bytes may still be in the files."""

    async def list_failure_reasons(self) -> list[str]:
        """One sentence for each reason why texts could not be embedded."""

    async def count_pending_documents(self) -> int:
        """Documents that are not completely indexed yet; open conversations count only until searchable."""

    async def resume(self) -> None:
        """Release held keys and retry failures at a start, except those that would fail again."""

    async def retry_documents(self, key: str = "") -> int:
        """Retry the failures of one document, or of all; returns the number of documents."""

    async def advance_documents(self) -> None:
        """Update the status of every document whose work is done."""

    async def has_due_keys(self, kind: KeyKind, now: float, process: int) -> bool:
        """Whether chunks, or else names or pairs, are due that no other process has claimed."""

    async def claim_chunks(self, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey]) -> ClaimedKeys:
        """Claim stale chunks that are due except `skip`, the oldest of each space."""

    async def claim_profiles(self, limit: int, now: float, turn: SpaceTurn, skip: Collection[StaleKey]) -> ClaimedKeys:
        """Claim stale names and pairs that are due except `skip`, the oldest of each space; names come first."""

    async def release_keys(self, kind: KeyKind, process: int) -> None:
        """Free the chunks, or else the names and pairs, that this process has claimed."""

    async def find_first_stale(self, *, held: bool = True) -> int | None:
        """The generation of the oldest change that is not projected; without held keys if `held` is False."""

    async def release_held_keys(self) -> None:
        """Make the keys held for a quiet period due."""

    async def requeue_keys(self, keys: Collection[tuple[KeyKind, int]]) -> None:
        """Mark keys stale whose projection is wrong."""

    async def load_chunks(self, ids: Collection[int]) -> list[ChunkToEmbed]:
        """These chunks; missing ones are left out."""

    async def finish_embedding(
        self,
        done: Sequence[StaleKey],
        failures: Sequence[EmbeddingFailure],
        attempts: int,
        usage: IndexingUsage,
        now: float,
    ) -> None:
        """Finish a batch of chunks; a failed one is given up after `attempts` tries."""

    async def retry_given_up(self, *, permanent: bool) -> None:
        """Retry what was given up, `permanent` also for permanent errors."""

    async def retry_after_change(self, reader: str) -> bool:
        """Retry everything that was given up by another reader (program and models); whether it was another."""

    async def count_given_up(self) -> int:
        """Documents of which a part was given up, and names and pairs whose vectors were."""

    async def start_reindex(self) -> None:
        """Mark everything stale, because graph and vectors are empty."""

    async def finish_reindex(self) -> None:
        """Record that graph and vectors are complete again."""

    async def count_unsegmented(self) -> int:
        """The number of ids whose full text may be of an earlier version; an upper bound of the rows."""

    async def index_next_batch(self) -> bool:
        """Index the full text of the next such rows again; returns whether there may be more."""

    async def get_setting(self, key: str) -> str:
        """A setting of the data directory; "" if there is none."""

    async def set_setting(self, key: str, value: str | int) -> None:
        """Save a setting of the data directory."""

    async def set_embedder(self, name: str, *, reindex: bool) -> None:
        """Save the embedder's name and drop vectors of another one; `reindex` requests new vectors."""


class Cache(Protocol):
    """Summaries, vectors of texts and answers that need not be made twice; usage of models by day."""

    async def load_summaries(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """The cached summaries among these keys."""

    async def save_summaries(self, summaries: Mapping[bytes, str]) -> None:
        """Cache summaries; compaction deletes those that no profile uses."""

    async def load_vectors(self, embedder: str, hashes: Collection[bytes]) -> dict[bytes, tuple[int, bytes]]:
        """Vectors by text hash: number of parts, and float32 bytes."""

    async def save_vectors(self, embedder: str, rows: Sequence[tuple[bytes, int, bytes]]) -> None:
        """Cache (text hash, parts, vectors) while a chunk has that text."""

    async def load_partial_vectors(self, embedder: str, chunks: Collection[int]) -> dict[int, PartialVectors]:
        """Vectors of growing chunks, as far as their text was embedded."""

    async def save_partial_vectors(self, vectors: Mapping[int, PartialVectors]) -> None:
        """Save vectors of growing chunks."""

    async def find_answer(self, key: bytes) -> str | None:
        """The cached answer, if any."""

    async def save_answer(self, answer: CachedAnswer, now: float) -> None:
        """Cache an answer unless anything it may rest on was deleted since; the least recently used ones go."""

    async def touch_answer(self, key: bytes, now: float) -> None:
        """Record that an answer was used."""

    async def delete_unused(self) -> None:
        """Delete summaries and vectors that nothing uses."""

    async def add_usage(self, day: str, items: Sequence[Usage]) -> None:
        """Add calls to the sums of a day (ISO date) by purpose and model."""

    async def add_indexing_usage(self, day: str, usage: IndexingUsage) -> None:
        """Add calls that indexed texts to the sums of a day (ISO date), and to those of the texts' spaces."""
