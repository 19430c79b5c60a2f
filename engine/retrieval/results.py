"""Records of a retrieval: the vectors of the question, the hits of the searches, and the context built from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from engine.retrieval.search import GraphLeg
from engine.text.similarity import SimilarityScale

if TYPE_CHECKING:
    import numpy as np

    from engine.models import Context, Scope, SearchQuery
    from engine.retrieval.search import ProfileCache
    from engine.storage.vectors.base import VectorStore


QueryPart = Literal["question", "low", "high"]


class FormerQuery(NamedTuple):
    """The vectors of a question by a former embedder, and where to search with them."""

    store: VectorStore
    vectors: QueryVectors


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """Vectors of length one: of the question, of all low keywords, and of all high keywords.

    `scale`: turns their cosines with stored vectors into similarities.
    """

    question: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: SimilarityScale = SimilarityScale()  # noqa: RUF009  - frozen
    former: FormerQuery | None = None

    def find_part(self, part: QueryPart) -> np.ndarray:
        """The vector of a part."""
        return {"question": self.question, "low": self.low, "high": self.high}[part]

    def find_similarities(self, vectors: np.ndarray) -> list[float]:
        """The similarity of the question to each of the vectors, shape (n, dim), of a row."""
        similarities: list[float] = self.scale.similarities(vectors @ self.question).tolist()
        return similarities


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
