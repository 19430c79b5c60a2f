"""Runtime: the open stores, models and options of one engine, handed to all of its services."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import structlog

from engine.errors import StoreError
from engine.llm.base import hash_parts
from engine.llm.checked_embedder import OTHER_UNRELATED_TEXTS, UNRELATED_TEXTS, embedder_identity
from engine.scheduling.feature_breaker import SummaryFailures
from engine.scheduling.foreground import ForegroundPriority
from engine.scheduling.indexing_budget import IndexingBudget
from engine.storage.vectors.generations import VectorGenerations
from engine.text.similarity import SimilarityScale
from engine.text.tokenizer import O200kTokenizer

if TYPE_CHECKING:
    from engine.clock import Clock
    from engine.errors import DiskError
    from engine.llm.base import LanguageModel, Reranker
    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.options import EngineOptions
    from engine.scheduling.processes import Processes
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.disk_reserve import DiskReserve
    from engine.storage.graph.base import GraphStore
    from engine.storage.ledger import LedgerStore
    from engine.storage.vectors.base import VectorStore
    from engine.usage import UsageMeter

log = structlog.get_logger(__name__)


DISTRIBUTION = "threadlore"
SCALE_SETTING = "similarity_scale"  # in the ledger: a key of the embedder, and the cosine of unrelated texts


@cache
def program_version() -> str:
    """The installed version, which the library reads from a file of a hundred lines each time."""
    return version(DISTRIBUTION)


@dataclass(frozen=True, slots=True)
class FormerVectors:
    """The vectors that are not made again yet, and the embedder that made them."""

    store: VectorStore
    embedder: CheckedEmbedder


@dataclass(slots=True, kw_only=True)
class Runtime:
    """The shared dependencies of an engine's services, built once in `Engine.open`.

    `priority` lets questions run before background work. `supervisor` runs the background tasks. `processes` share the
    work on the data. `reserve`: space that is kept for when the disk is full. `refusal`: why nothing can be
    written; None if it can. `former`: vectors by a former embedder that are searched, too.
    """

    ledger: LedgerStore
    graph: GraphStore
    vectors: VectorStore
    former: FormerVectors | None
    language: LanguageModel
    embedder: CheckedEmbedder
    reranker: Reranker | None
    options: EngineOptions
    supervisor: Supervisor
    processes: Processes
    reserve: DiskReserve
    refusal: DiskError | None
    clock: Clock
    tokenizer: O200kTokenizer = field(default_factory=O200kTokenizer)
    summary_failures: SummaryFailures = field(default_factory=SummaryFailures)
    priority: ForegroundPriority = field(init=False)
    indexing_budget: IndexingBudget = field(init=False)

    @property
    def reader(self) -> str:
        """Identity of all that reads texts: another program, or another model, may read what this one gave up."""
        models = self.language.name, self.language.summary_model, embedder_identity(self.embedder)
        return hash_parts((program_version(), *models)).hex()

    async def measure_scale(self, meter: UsageMeter) -> SimilarityScale:
        """The scale of the embedder, which is measured the first time and kept. Raises ModelError."""
        is_known = self.embedder.has_scale
        scale = await self.embedder.measure_scale(meter)
        if not is_known and self.refusal is None:
            try:
                await self.ledger.settings.set(SCALE_SETTING, f"{_scale_key(self.embedder)} {scale.unrelated}")
            except StoreError as error:  # an answer needs nothing to be stored; the next start measures again
                log.warning("embedder.scale_not_kept", error=str(error))
        return scale

    async def find_former(self) -> FormerVectors | None:
        """The vectors by a former embedder, until one of the processes has made all of them again."""
        if self.former is not None and (await self.ledger.embedders.load_places()).former is None:
            self.former = None
        return self.former

    async def finish_embedder_change(self) -> None:
        """Delete the vectors by a former embedder: all were made again."""
        await self.ledger.embedders.finish_change()
        self.former = None
        if isinstance(self.vectors, VectorGenerations):
            await self.vectors.drop_former()

    def __post_init__(self) -> None:
        self.priority = ForegroundPriority(self.clock)
        self.indexing_budget = IndexingBudget(
            self.options.indexing_limits, self.clock, self.ledger.stats.list_space_usage
        )


async def recall_scale(ledger: LedgerStore, embedder: CheckedEmbedder) -> None:
    """Give the embedder the scale that was measured of it, if it was."""
    key, _, unrelated = (await ledger.settings.get(SCALE_SETTING)).partition(" ")
    if key == _scale_key(embedder):
        embedder.recall_scale(SimilarityScale(float(unrelated)))


def _scale_key(embedder: CheckedEmbedder) -> str:
    """A key of the embedder and of the texts by which it is measured."""
    return hash_parts((embedder_identity(embedder), *UNRELATED_TEXTS, *OTHER_UNRELATED_TEXTS)).hex()
