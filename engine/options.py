"""What an engine can be told: numbers with defaults that suit one machine, all in one frozen record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.context_window import ContextWindow
from engine.ingest.chunking import Packing
from engine.knowledge.summary_plan import Limits


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of an engine.

    `graph`: the module behind the graph. `words`: the full-text tokenizer of a new folder; trigram suits scripts
    without spaces. `window`: of the chat model. `readers`: chunks read at once. `linger`: seconds that
    small closed conversations wait for others to share a call. `quiet`: seconds in which a hot key is summarised once.
    `vector_weight`, `word_weight`: shares in the fusion of the two searches for chunks. `picking`: how the chunks of
    the graph are ordered: by a walk from the best facts, or as LightRAG does, by similarity or by weight.
    `compact_after`: seconds until forgotten bytes leave the files by themselves. `attempts`: tries of a chunk before
    it is given up. `replace_embedder`: accept another embedder than the folder's, and make all vectors anew.
    """

    graph: Literal["kuzu", "ladybug"] = "kuzu"
    words: Literal["porter unicode61", "trigram"] = "porter unicode61"
    packing: Packing = field(default_factory=Packing)
    describing: Limits = field(default_factory=Limits)
    window: ContextWindow = field(default_factory=ContextWindow)
    readers: int = 8
    linger: float = 5.0
    embed_batch: int = 64
    project_batch: int = 4096
    quiet: float = 600.0
    compact_after: float = 600.0
    attempts: int = 6
    vector_weight: float = 1.0
    word_weight: float = 0.7
    picking: Literal["walk", "vector", "weight"] = "walk"
    min_rerank_score: float = 0.0
    keep_replies: bool = True
    replace_embedder: bool = False

    @property
    def embed_attempts(self) -> int:
        """Tries of a text that cannot be embedded although others can."""
        return min(self.attempts, 3)
