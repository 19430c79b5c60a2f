"""Records of a retrieval: what the searches found, and the context that was built from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.retrieval.search import GraphLeg

if TYPE_CHECKING:
    from engine.models import Context, Scope, SearchQuery
    from engine.retrieval.search import ProfileCache, QueryVectors


@dataclass(frozen=True, slots=True)
class SearchHits:
    """All that a question's searches found, in order, by id."""

    query: SearchQuery
    vectors: QueryVectors | None
    profile_cache: ProfileCache
    local_leg: GraphLeg = field(default_factory=GraphLeg)
    global_leg: GraphLeg = field(default_factory=GraphLeg)
    chunks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A context, with the rows that it draws on, the ledger's generation when it was read, and for which scope."""

    context: Context
    generation: int = 0
    chunks: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    pairs: frozenset[int] = frozenset()
    scope: Scope | None = None
