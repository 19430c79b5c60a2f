"""Runtime: the open stores, models and options of one engine, handed to all of its services."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.options import Options
from engine.scheduling.foreground import Courtesy
from engine.scheduling.supervisor import Supervisor
from engine.text.tokenizer import O200k

if TYPE_CHECKING:
    from engine.llm.base import Language, Reranker
    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.storage.graph.base import Graph
    from engine.storage.ledger import Ledger
    from engine.storage.vectors.base import Vectors


@dataclass(slots=True)
class Runtime:
    """What the services of one engine share; built once when the engine is opened.

    `priority` lets questions go before background work. `supervisor` runs the background tasks.
    """

    ledger: Ledger
    graph: Graph
    vectors: Vectors
    language: Language
    embedder: CheckedEmbedder
    reranker: Reranker | None = None
    options: Options = field(default_factory=Options)
    supervisor: Supervisor = field(default_factory=Supervisor)
    tokenizer: O200k = field(default_factory=O200k)
    priority: Courtesy = field(default_factory=Courtesy)
