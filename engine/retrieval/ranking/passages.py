"""Rank the passages of conversations singly, and choose by value which of them a prompt shows as sources. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from engine.retrieval.ranking.fusion import add_neighbors, sort_key
from engine.text.word_lists import COMMON_WORDS, GENERIC_WORDS, STOP_WORDS, word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from engine.options import RankingOptions
    from engine.storage.ledger.records import ChunkText, PieceText


PassageKey = tuple[str, str]  # the keys of a document and of a passage

MIN_NAME = 2  # characters
TITLES = word_set("mr mrs ms mx dr prof professor sir hon rev herr frau sr sra señor señora mme monsieur madame")
_OTHER_WORDS = STOP_WORDS | COMMON_WORDS | GENERIC_WORDS | word_set("deleted grace mark support user")
_WORD = re.compile(r"[^\W_]+")
# Words that ask what somebody said or thought, not their nouns for other things: a state, a talk, "comment" (how).
_SAID = re.compile(
    r"\b(?:sa(?:y|ys|id|ying)|th(?:ink|inks|ought)|told|(?:did|does) [^?]{1,60}? tell|asked|opinions?"
    r"|views?(?! (?:from|over|out|of the)\b)|put forward|stat(?:es|ed)|state(?= (?:about|on|that|regarding)\b)"
    r"|(?<=\w )comment(?= (?:on|about|to|towards?)\b)|(?<!['’]s )(?<!\bthe )(?<!\ba )talk(?:s|ed|ing)?|responses?"
    r"|dit|(?:peut|pourrait|veut) dire|qu[eé] (?:\w{1,20} ){0,3}dicen?|diz|sagte?n?|meinte?|erzähl(?:t|te|ten)"
    r"|denk(?:t|en|st)|pense|piensa|pens[aó]|pensou|acham?(?=\W{0,3}(?:\Z|d[aeo]s?\b|que\b|sobre\b|disso\b))"
    r"|disse(?:ram)?|fal(?:ou|aram)|cont(?:ou|aram)|contó|comentó|raconté|(?-i:avis)|conclusions?|concluded?"
    r"|(?:respond|repl(?:y|ie)|answer|comment(?:s|ed|ing|ó|ou)|agree|disagree|suggest|propos|mention|expl(?:ain|ic|iqu)"
    r"|elaborat|discuss|diskutier|discut|argu|claim|recommend|presentation|presented|introduc|gesagt|dacht|gedacht"
    r"|gemeint|antwort|geantwortet|vorschl|vorgeschl|äußer|geäußert|erklär|erwähn|meinung|ansicht|dijo|opin|répond"
    r"|respuest|respost|propuso|propôs)\w{0,8})\b"
    r"|言[いっうわ]|思[いっうわ]|述べ|意見|提案|答え|話し|説明(?!書)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RatedChunk:
    """A chunk of a conversation: its rank (0 to 1), the similarity of its parts, the BM25 scores of its pieces."""

    text: ChunkText
    rank: float
    similarities: Sequence[float]
    bm25: Sequence[float]


def passage_key(piece: PieceText) -> PassageKey:
    """The key of the passage of a piece."""
    return piece.document, piece.passage


def rate_passages(
    chunks: Sequence[RatedChunk], options: RankingOptions, named: Collection[str] = ()
) -> dict[PassageKey, float]:
    """Scores of passages: by similarity, words, and the rank of their chunk, with a share of their neighbors'.

    Those of authors whom the question has `named` gain: what somebody did is mostly told by themselves.
    """
    most_similar = max((value for chunk in chunks for value in chunk.similarities if value > 0), default=1.0)
    most_words = max((value for chunk in chunks for value in chunk.bm25), default=0.0) or 1.0
    scores: dict[PassageKey, float] = {}
    for chunk in chunks:
        own = options.passage_rank_weight * (1 - chunk.rank)
        similarities = spread_over_pieces(chunk.similarities, [len(piece.text) for piece in chunk.text.pieces])
        for piece, similarity, words in zip(chunk.text.pieces, similarities, chunk.bm25, strict=True):
            score = own + options.vector_weight * max(0.0, similarity) / most_similar
            score += options.fulltext_weight * words / most_words
            score += options.named_author_weight * (piece.author in named)
            key = passage_key(piece)
            scores[key] = max(scores.get(key, 0.0), score)
    return add_neighbors(scores, _find_neighbors(chunks, options.neighbor_span), options.neighbor_share)


def asks_what_was_said(question: str) -> bool:
    """Whether a question asks what somebody said or thought: others talked about it, too, and to the person."""
    return _SAID.search(question) is not None


def find_named(question: str, authors: Iterable[str]) -> frozenset[str]:
    """The authors whose whole name, or first name with a capital letter, the question says; titles do not count.

    Nor does a role ("the project manager"): what is asked about it others discuss as well. Where the question says a
    whole name, others with the same first word are not meant: "Grad B" beside "Grad F".
    """
    said = _WORD.findall(question)
    folded = f" {' '.join(said).casefold()} "
    parts = {author: [part for part in _WORD.findall(author) if part.casefold() not in TITLES] for author in authors}
    named = {author for author in parts if _is_named(author, parts[author], set(said), folded, question)}
    whole = {author for author in named if len(parts[author]) > 1 and _says_all(parts[author], folded)}
    firsts = {parts[author][0].casefold() for author in whole}
    return frozenset(each for each in named if each in whole or parts[each][0].casefold() not in firsts)


def _is_named(author: str, parts: Sequence[str], said: Collection[str], folded: str, question: str) -> bool:
    if not parts or len(author) < MIN_NAME or f" the {parts[0].casefold()} " in folded:
        return False
    if author[0].lower() == author[0].upper() and author[0].isalpha() and author in question:  # no capital letters
        return True
    if len(parts) > 1 and _says_all(parts, folded):
        return True
    first = parts[0]
    is_name = len(first) >= MIN_NAME and first.casefold() not in _OTHER_WORDS
    return is_name and f"{first[0].upper()}{first[1:]}" in said


def _says_all(parts: Sequence[str], folded: str) -> bool:
    return f" {' '.join(parts).casefold()} " in folded


def spread_over_pieces(similarities: Sequence[float], lengths: Sequence[int]) -> list[float]:
    """The best similarity among the parts of a chunk that each piece is in; parts have about equal lengths."""
    if not similarities:
        return [0.0] * len(lengths)
    scale, at = len(similarities) / max(1, sum(lengths)), 0
    found = list[float]()
    for length in lengths:
        first, last = int(at * scale), int((at + length) * scale - 1e-9)
        found.append(max(similarities[min(first, len(similarities) - 1) : last + 1], default=0.0))
        at += length
    return found


def order_passages(chunks: Iterable[ChunkText], scores: Mapping[PassageKey, float]) -> list[PassageKey]:
    """All passages in the order of their chunks, but those with scores change places among themselves: best first."""
    keys = list(dict.fromkeys(passage_key(piece) for chunk in chunks for piece in chunk.pieces))
    best = iter(sorted((key for key in keys if key in scores), key=lambda key: sort_key(scores[key])))
    return [next(best) if key in scores else key for key in keys]


def _find_neighbors(chunks: Sequence[RatedChunk], span: int) -> Iterable[tuple[PassageKey, PassageKey]]:
    for chunk in chunks:
        keys = list(dict.fromkeys(map(passage_key, chunk.text.pieces)))
        for distance in range(1, span + 1):
            yield from zip(keys, keys[distance:], strict=False)


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
