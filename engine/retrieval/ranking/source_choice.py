"""Choose which pieces of the ranked chunks a prompt shows as sources, by value within a token budget. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from engine.retrieval.ranking.fusion import sort_key
from engine.retrieval.ranking.passages import passage_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from engine.retrieval.ranking.passages import PassageKey
    from engine.storage.ledger.records import ChunkText, PieceText


class PieceId(NamedTuple):
    """The place of a piece: the id of its chunk, and its position there."""

    chunk: int
    position: int


@dataclass(slots=True)
class SourceChoice:
    """The pieces chosen so far, and what they cost. `texts` are distinct chunks, the best first.

    `measure`: the tokens of a piece in the prompt, below another piece of its chunk or as the first. `max_chunks`:
    chunks that pieces may come from, at most.
    """

    texts: Sequence[ChunkText]
    measure: Callable[[PieceText, PieceText | None], int]
    max_chunks: int
    tokens: int = 0
    chosen: set[PieceId] = field(default_factory=set)
    chunks: set[int] = field(default_factory=set)
    _sizes: dict[tuple[PieceId, bool], int] = field(default_factory=dict)
    _by_id: dict[int, ChunkText] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_id = {text.id: text for text in self.texts}

    def fill(self, order: Iterable[PieceId], budget: int, max_chunks: int) -> None:
        """Add pieces in this order while they fit; a piece that is too long is passed over."""
        for place in order:
            self.add(place, budget, max_chunks)

    def add(self, place: PieceId, budget: int, max_chunks: int) -> bool:
        """Add a piece if it fits; whether it is chosen now."""
        if place in self.chosen:
            return True
        new = place.chunk not in self.chunks
        if (new and len(self.chunks) >= min(max_chunks, self.max_chunks)) or self.tokens + self.size(place) > budget:
            return False
        self.tokens += self.size(place)
        self.chosen.add(place)
        self.chunks.add(place.chunk)
        return True

    def size(self, place: PieceId) -> int:
        """The tokens of a piece in the prompt, beside those that are chosen."""
        key = place, place.chunk in self.chunks
        if key not in self._sizes:
            near = PieceId(place.chunk, place.position - 1 if place.position else 1)
            self._sizes[key] = self.measure(self.piece(place), self.piece(near) if key[1] else None)
        return self._sizes[key]

    def piece(self, place: PieceId) -> PieceText:
        return self._by_id[place.chunk].pieces[place.position]

    def list_pieces(self, chunks: Iterable[int]) -> list[PieceId]:
        """The pieces of these chunks, of those that may be chosen."""
        known = (self._by_id[chunk] for chunk in chunks if chunk in self._by_id)
        return [PieceId(text.id, index) for text in known for index in range(len(text.pieces))]

    def list_chosen(self) -> list[ChunkText]:
        """The chunks in their order, each with its chosen pieces only."""
        kept = (
            replace(
                text,
                pieces=tuple(each for at, each in enumerate(text.pieces) if PieceId(text.id, at) in self.chosen),
            )
            for text in self.texts
        )
        return [text for text in kept if text.pieces]


def order_pieces(texts: Sequence[ChunkText], scores: Mapping[PassageKey, float]) -> list[PieceId]:
    """All pieces in the order of their chunks, but those with scores change places among themselves: best first."""
    places = [PieceId(text.id, index) for text in texts for index in range(len(text.pieces))]
    pieces = {PieceId(text.id, at): piece for text in texts for at, piece in enumerate(text.pieces)}
    scored = [place for place in places if passage_key(pieces[place]) in scores]
    best = iter(sorted(scored, key=lambda place: sort_key(scores[passage_key(pieces[place])])))
    return [next(best) if passage_key(pieces[place]) in scores else place for place in places]
