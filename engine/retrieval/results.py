"""Records of a retrieval: the hits of the searches, and the context built from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.retrieval.search import GraphLeg

if TYPE_CHECKING:
    from engine.models import Context, Scope, SearchQuery
    from engine.retrieval.search import ProfileCache, QueryVectors


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The hits of all searches of a question: ids, the best first."""

    query: SearchQuery
    vectors: QueryVectors | None
    profile_cache: ProfileCache
    local_leg: GraphLeg = field(default_factory=GraphLeg)
    global_leg: GraphLeg = field(default_factory=GraphLeg)
    chunks: tuple[int, ...] = ()
    walk: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A context with its provenance.

    `chunks`, `names` and `pairs`: ids of the chunks, entities and relations it uses. `generation`: of the ledger at the
    time of reading. `use_cache`: whether an earlier answer from it may be given again.
    """

    context: Context
    generation: int = 0
    chunks: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    pairs: frozenset[int] = frozenset()
    scope: Scope | None = None
    use_cache: bool = True
