"""The choices between what was found and what the model is shown: order, picking, budget, numbers. All pure."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from engine.models import Source
from engine.text.tokenizer import count_that_fit

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from engine.storage.ledger.queries.lookup import ChunkText, PieceText
    from engine.text.windows import Tokenizer

Key = TypeVar("Key", bound="Hashable")
Item = TypeVar("Item")

SIMILARITY_SHARE, DEGREE_SHARE, WEIGHT_SHARE = 0.8, 0.12, 0.08  # shares in the order of relations: together 1
MIN_OVERLAP_CHARACTERS = (
    20  # characters that two parts of a passage share at least, if one goes on where the other ends
)
MAX_UNNAMED_PASSAGES = 3  # passages of a chunk that support a row none of them names
MAX_SOURCE_NUMBERS = 8  # numbers that a row of the graph shows at most


def round_robin(*ranked: Iterable[Key]) -> list[Key]:
    """Deal one from each hand in turn, skipping what has been dealt."""
    nothing = object()
    dealt = chain.from_iterable(zip_longest(*ranked, fillvalue=nothing))
    return [key for key in dict.fromkeys(dealt) if key is not nothing]  # type: ignore[misc]  # the filler is gone


def deduplicate_items(items: Sequence[Iterable[Key]]) -> list[list[Key]]:
    """Each chunk with the first item that has it only; within an item those that most items have come first (A7)."""
    distinct = [list(dict.fromkeys(item)) for item in items]
    counts = Counter(chain.from_iterable(distinct))
    owner: dict[Key, int] = {}
    for index, item in enumerate(distinct):
        for key in item:
            owner.setdefault(key, index)
    return [
        sorted((key for key in item if owner[key] == index), key=lambda key: -counts[key])
        for index, item in enumerate(distinct)
    ]


def pick_by_weight(items: Sequence[Sequence[Key]], m: int = 5) -> list[Key]:
    """Linear gradient weighted polling (A7): `m` from the first item, down to 1 from the last.

    What an item cannot give is taken afterwards, one at a time, from the first item that still has some.
    """
    if m <= 0:
        return []
    steps = max(1, len(items) - 1)
    wanted = [round(m - index / steps * (m - 1)) for index in range(len(items))]
    picked = [key for item, number in zip(items, wanted, strict=True) for key in item[:number]]
    missing = sum(max(0, number - len(item)) for item, number in zip(items, wanted, strict=True))
    left = [key for item, number in zip(items, wanted, strict=True) for key in item[number:]]
    return picked + left[:missing]


def pick_by_vector(
    candidates: Iterable[Key], vectors: Mapping[Key, np.ndarray], query: np.ndarray, number: int
) -> list[Key]:
    """The `number` candidates most similar to the query, best first; those without a vector are left out.

    A vector has shape (dim,) or (parts, dim); of several parts the best one counts.
    """
    similarity = {key: best_cosine(vectors[key], query) for key in candidates if key in vectors}
    return sorted(similarity, key=lambda key: -similarity[key])[: max(0, number)]


def best_cosine(parts: np.ndarray, query: np.ndarray) -> float:
    """The cosine of the part (a row) that is most like the query; none gives 0."""
    return max((cosine(part, query) for part in np.atleast_2d(parts)), default=0.0)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """The cosine of two vectors; 0 if one of them is zero or not finite."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return 0.0
    one, other = one.astype(np.float64), other.astype(np.float64)
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if 0.0 < length < math.inf else 0.0


def relation_score(similarity: float, degree: int, weight: float) -> float:
    """The rank of a relation near the entities asked for: 0.8 similarity + 0.12 d/(d+4) + 0.08 w/(w+1).

    d and w are the logarithms of 1 + the degrees of both ends, and of 1 + the weight: hubs and often told facts come
    first among equals, but never before what is more like the question by a quarter.
    """
    connected, told = math.log1p(max(0, degree)), math.log1p(max(0.0, weight))
    return SIMILARITY_SHARE * similarity + DEGREE_SHARE * connected / (connected + 4) + WEIGHT_SHARE * told / (told + 1)


def truncate_to_budget(items: Sequence[Item], rows: Sequence[str], budget: int, tokenizer: Tokenizer) -> list[Item]:
    """The longest prefix of the items whose rows, joined by newlines, fit into the budget (tokens)."""
    return list(items[: count_that_fit(rows, budget, tokenizer)])


def tokens_for_sources(total: int, prompt: int, graph: int, reserve: int = 200) -> int:
    """Tokens left for sources beside a prompt (its history included) and graph rows; 0 if these fill the total (A8)."""
    return max(0, total - prompt - graph - reserve)


def apply_rerank(ids: Sequence[Key], scores: Sequence[float | None], top_n: int, min_score: float = 0.0) -> list[Key]:
    """The best `top_n` by score; ids without a finite score, or with less than a positive `min_score`, are left out.

    Where nothing was scored, or the scores are not those of the ids, the order stays as it was.
    """
    pairs = list(zip(ids, scores, strict=False))
    scored = [(key, score) for key, score in pairs if score is not None and math.isfinite(score)]
    if not scored or len(ids) != len(scores):
        return list(ids[:top_n])
    ranked = sorted(scored, key=lambda pair: -pair[1])
    return [key for key, score in ranked if min_score <= 0 or score >= min_score][:top_n]


class NumberedPiece(NamedTuple):
    """A piece of a chunk: the number of its passage, and its text, case-folded."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class NumberedSources:
    """The sources in the order of their numbers, and by chunk (its id) what stands in it."""

    sources: tuple[Source, ...]
    pieces_by_chunk: Mapping[int, tuple[NumberedPiece, ...]]

    def find_supporting(
        self, evidence: Iterable[int], names: Sequence[str], limit: int = MAX_SOURCE_NUMBERS
    ) -> tuple[int, ...]:
        """The numbers of the passages that support an entity (one name) or a relation (both names), ascending.

        Of each chunk of the evidence that is shown: the pieces that name most of them, or else the first three.
        """
        folded = [name.casefold() for name in names]
        found = [
            number for chunk in evidence for number in find_naming_pieces(self.pieces_by_chunk.get(chunk, ()), folded)
        ]
        return tuple(sorted(list(dict.fromkeys(found))[:limit]))


def find_naming_pieces(pieces: Sequence[NumberedPiece], names: Sequence[str]) -> list[int]:
    """The numbers of the pieces that contain most of the names (case-folded); the first three if none does."""
    hits = [sum(name in piece.text for name in names) for piece in pieces]
    most = max(hits, default=0)
    if not most:
        return [piece.number for piece in pieces[:MAX_UNNAMED_PASSAGES]]
    return [piece.number for piece, hit in zip(pieces, hits, strict=True) if hit == most]


def number_sources(chunks: Iterable[ChunkText]) -> NumberedSources:
    """The passages of the chunks as sources, numbered from 1 in the order of their first piece.

    Several pieces of one passage make one source. Of chunks with equal texts the first one speaks for all.
    """
    sources: dict[tuple[str, str], Source] = {}
    placed: dict[int, tuple[NumberedPiece, ...]] = {}
    same: dict[str, int] = {}
    for chunk in chunks:
        first = same.setdefault(chunk.text, chunk.id)
        if first in placed:
            placed[chunk.id] = placed[first]
            continue
        for piece in chunk.pieces:
            key = (piece.document, piece.passage)
            sources[key] = build_source(piece, chunk.key, sources.get(key), len(sources) + 1)
        placed[chunk.id] = tuple(
            NumberedPiece(sources[piece.document, piece.passage].number, piece.text.casefold())
            for piece in chunk.pieces
        )
    return NumberedSources(tuple(sources.values()), placed)


def build_source(piece: PieceText, chunk: str, known: Source | None, following: int) -> Source:
    """The source of a piece: a new one with the following number, or the known one with this piece joined on."""
    return Source(
        number=known.number if known else following,
        document=piece.document,
        passage=piece.passage,
        title=piece.title,
        label=piece.label,
        link=piece.link,
        author=piece.author,
        time=piece.time,
        text=join_overlapping(known.text, piece.text) if known else piece.text,
        space=piece.space,
        room=piece.room,
        chunk=known.chunk if known else chunk,
    )


def join_overlapping(one: str, other: str) -> str:
    """Two parts of a passage as one text: what they share stands once, a gap between them is shown as "…"."""
    if other in one:
        return one
    if one in other:
        return other
    for before, after in ((one, other), (other, one)):
        if shared := overlap_length(before, after):
            return before + after[shared:]
    return f"{one}\n…\n{other}"


def overlap_length(before: str, after: str) -> int:
    """How many characters at the end of one text begin the other, or 0 if these are too few to mean anything."""
    opening = after[:MIN_OVERLAP_CHARACTERS]
    at = before.find(opening) if len(opening) == MIN_OVERLAP_CHARACTERS else -1
    while at >= 0:
        if after.startswith(before[at:]):
            return len(before) - at
        at = before.find(opening, at + 1)
    return 0
