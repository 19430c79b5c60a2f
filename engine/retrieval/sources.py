"""Sources, numbered for citation, and the prompt of an answer with the tokens that are left for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from engine.llm.source_lines import cite_history
from engine.models import Prompt, Source
from engine.retrieval.ranking.passages import order_passages
from engine.text.tokenizer import count_fitting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engine.models import ChatTurn, Context, Filters, Question
    from engine.retrieval.ranking.passages import PassageKey
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ChunkText, PieceText
    from engine.text.tokenizer import Tokenizer


MIN_OVERLAP_CHARACTERS = 20  # shortest shared text that shows that one part of a passage continues another
MAX_UNNAMED_PASSAGES = 3  # passages of a chunk cited for a row that none of them names
MAX_SOURCE_NUMBERS = 8  # source numbers per row of the graph
Item = TypeVar("Item")

SOURCE_NUMBER_TOKENS = 3  # tokens of one source number in a row of the graph, punctuation included
JOIN_TOKENS = 1  # tokens between two rows or blocks
_OFFSET_LENGTH = len("+00:00")
RESERVED_TOKENS = 200  # tokens kept free: joined text may have a few more tokens than its parts


class NumberedPiece(NamedTuple):
    """A piece of a chunk: the number of its passage, and its text, case-folded."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class NumberedSources:
    """The sources in the order of their numbers, and the numbered pieces of each chunk, by its id."""

    sources: tuple[Source, ...]
    pieces_by_chunk: Mapping[int, tuple[NumberedPiece, ...]]

    def find_supporting(self, evidence: Iterable[int], names: Sequence[str]) -> tuple[int, ...]:
        """The numbers of the passages that support an entity (one name) or a relation (both names), ascending.

        Each shown chunk of the evidence gives the pieces that contain the most names, or its first three if none does.
        """
        folded = [name.casefold() for name in names]
        numbers = [
            number for chunk in evidence for number in find_naming_pieces(self.pieces_by_chunk.get(chunk, ()), folded)
        ]
        return tuple(sorted(list(dict.fromkeys(numbers))[:MAX_SOURCE_NUMBERS]))

    def find_stating(self, evidence: Iterable[int], sentence: str) -> tuple[int, ...]:
        """The numbers of the passages in these chunks that contain a sentence word for word, ascending."""
        folded = sentence.casefold()
        pieces = (piece for chunk in evidence for piece in self.pieces_by_chunk.get(chunk, ()))
        numbers = dict.fromkeys(piece.number for piece in pieces if folded and folded in piece.text)
        return tuple(sorted(list(numbers)[:MAX_SOURCE_NUMBERS]))


def find_naming_pieces(pieces: Sequence[NumberedPiece], names: Sequence[str]) -> list[int]:
    """The numbers of the pieces that contain the most names (case-folded); the first three if none contains any."""
    hits = [sum(name in piece.text for name in names) for piece in pieces]
    most = max(hits, default=0)
    if not most:
        return [piece.number for piece in pieces[:MAX_UNNAMED_PASSAGES]]
    return [piece.number for piece, hit in zip(pieces, hits, strict=True) if hit == most]


def number_sources(chunks: Sequence[ChunkText], scores: Mapping[PassageKey, float] | None = None) -> NumberedSources:
    """The passages of the chunks as sources, numbered from 1 in the order of their first piece.

    Passages with `scores` are numbered by these instead. Several pieces of one passage make one source. Chunks with
    equal texts share the sources of the first one.
    """
    distinct = list_distinct(chunks)
    shown = {(piece.document, piece.passage) for chunk in distinct for piece in chunk.pieces}
    order = order_passages(chunks, scores or {})
    numbers = {key: number for number, key in enumerate((key for key in order if key in shown), 1)}
    sources = build_sources(distinct, numbers)
    pieces: dict[int, tuple[NumberedPiece, ...]] = {}
    first_by_text: dict[str, int] = {}
    for chunk in chunks:
        first = first_by_text.setdefault(chunk.text, chunk.id)
        pieces[chunk.id] = pieces.get(first) or tuple(
            NumberedPiece(numbers[piece.document, piece.passage], piece.text.casefold()) for piece in chunk.pieces
        )
    return NumberedSources(tuple(sources[key] for key in numbers), pieces)


def list_distinct(chunks: Iterable[ChunkText]) -> list[ChunkText]:
    """The chunks, of several with equal texts only the first."""
    first: dict[str, ChunkText] = {}
    for chunk in chunks:
        first.setdefault(chunk.text, chunk)
    return list(first.values())


def build_sources(chunks: Iterable[ChunkText], numbers: Mapping[PassageKey, int]) -> dict[PassageKey, Source]:
    """Sources by passage, in the order of their first piece; 0 is the number of a passage that has none."""
    sources: dict[PassageKey, Source] = {}
    for chunk in chunks:
        for piece in chunk.pieces:
            key = (piece.document, piece.passage)
            sources[key] = build_source(piece, chunk.key, sources.get(key), numbers.get(key, 0), len(sources) + 1)
    return sources


def build_source(piece: PieceText, chunk: str, existing: Source | None, number: int, next_position: int) -> Source:
    """The source of a piece: one at the next position, or the existing one with this piece added."""
    return Source(
        number=number,
        position=existing.position if existing else next_position,
        document=piece.document,
        passage=piece.passage,
        title=piece.title,
        label=piece.label,
        link=piece.link,
        author=piece.author,
        time=piece.time,
        text=join_overlapping(existing.text, piece.text) if existing else piece.text,
        space=piece.space,
        room=piece.room,
        chunk=existing.chunk if existing else chunk,
    )


def join_overlapping(one: str, other: str) -> str:
    """Join two parts of a passage: shared text appears once, a gap between the parts becomes "…"."""
    if other in one:
        return one
    if one in other:
        return other
    for before, after in ((one, other), (other, one)):
        if shared := overlap_length(before, after):
            return before + after[shared:]
    return f"{one}\n…\n{other}"


def overlap_length(before: str, after: str) -> int:
    """The length of the end of one text that begins the other; 0 if it is too short to mean anything."""
    opening = after[:MIN_OVERLAP_CHARACTERS]
    at = before.find(opening) if len(opening) == MIN_OVERLAP_CHARACTERS else -1
    while at >= 0:
        if after.startswith(before[at:]):
            return len(before) - at
        at = before.find(opening, at + 1)
    return 0


def with_equal_texts(chosen: Sequence[ChunkText], texts: Iterable[ChunkText]) -> list[ChunkText]:
    """The chosen chunks, and after them those with equal texts, which support rows by the same sources."""
    shown = {text.text for text in chosen}
    ids = {text.id for text in chosen}
    return [*chosen, *(text for text in texts if text.text in shown and text.id not in ids)]


def matches_filters(filters: Filters, piece: PieceText) -> bool:
    """Whether a passage matches the filters."""
    return (
        (not filters.documents or piece.document in filters.documents)
        and (not filters.rooms or piece.room in filters.rooms)
        and (not filters.authors or piece.author in filters.authors)
        and (filters.since is None or (piece.time is not None and piece.time >= filters.since))
        and (filters.until is None or (piece.time is not None and piece.time <= filters.until))
    )


def build_prompt(question: Question, context: Context, now: datetime) -> Prompt:
    """The prompt of an answer: question, history, settings, context, and the day where the person asking is.

    What was said before a question as of a day may be of later days: such a question is given without its history, as
    it stands alone.
    """
    local, as_of = now.astimezone(question.zone), question.filters.as_of
    return Prompt(
        context.question.question if as_of and question.history else question.text,
        context,
        () if as_of else cite_history(question.history, context.sources),
        question.instructions,
        question.style,
        question.model,
        question.asker,
        local.date(),
        token_budget=question.max_total_tokens,
        utc_offset=local.isoformat()[-_OFFSET_LENGTH:],
        zone=question.zone,
    )


def count_prompt_tokens(runtime: Runtime, prompt: Prompt) -> int:
    """The tokens of the messages that the prompt sends to the model."""
    messages = runtime.language.build_answer_messages(prompt)
    return sum(_count_kept(runtime.tokenizer, message.content) for message in messages)


@lru_cache(maxsize=64)
def _count_kept(tokenizer: Tokenizer, text: str) -> int:
    """The tokens of a message. Kept, as one question counts the same rules several times, and the next one again."""
    return tokenizer.count(text)


def count_fitting_sizes(sizes: Sequence[int], budget: int) -> int:
    """How many of the sizes, from the first on, fit into a budget together."""
    return sum(total <= budget for total in accumulate(sizes))


def truncate_to_budget(
    items: Sequence[Item], rows: Iterable[str], budget: int, tokenizer: Tokenizer
) -> tuple[list[Item], int]:
    """The first items whose rows, joined by newlines, fit into the budget (tokens), and the tokens of these rows."""
    sizes = count_fitting(rows, budget, tokenizer)
    return list(items[: len(sizes)]), sum(sizes)


def tokens_for_sources(total: int, prompt: int, graph: int) -> int:
    """Tokens left for sources in addition to a prompt (with its history) and graph rows; 0 if these fill the total."""
    return max(0, total - prompt - graph - RESERVED_TOKENS)


def newest_turns(history: Sequence[ChatTurn], tokens: int, tokenizer: Tokenizer) -> tuple[ChatTurn, ...]:
    """The newest turns that fit into the tokens, in order; an answer is counted with the titles of its sources."""
    kept: list[ChatTurn] = []
    for turn, titled in zip(reversed(history), reversed(cite_history(history, ())), strict=True):
        tokens -= tokenizer.count(titled.text)
        if tokens < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
