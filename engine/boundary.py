"""Guard public methods: repair texts and times, check questions and numbers, refuse calls after closing."""

from __future__ import annotations

import functools
import inspect
from contextlib import aclosing
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from engine.errors import EngineClosed, InvalidDocument, InvalidQuestion, OutOfRange
from engine.models import RetrievalMode

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

    from engine.models import Document, Passage, Question
    from engine.options import EngineOptions, RankingOptions

Value = TypeVar("Value")
Guarded = TypeVar("Guarded", bound=type)

PATH = "path"  # parameters of this name are passed on as they are
COLLECTIONS = (tuple, list, frozenset, set)

MAX_RESULTS = 1_000
MAX_TOKENS = 10_000_000
MAX_SECONDS = 10 * 365 * 86_400.0  # ten years
MAX_WEIGHT = 1_000.0

QUESTION_BOUNDS: Mapping[str, tuple[float, float]] = {
    "top_k": (1, MAX_RESULTS),
    "chunk_top_k": (1, MAX_RESULTS),
    "max_entity_tokens": (0, MAX_TOKENS),
    "max_relation_tokens": (0, MAX_TOKENS),
    "max_total_tokens": (1, MAX_TOKENS),
    "threshold": (-1.0, 1.0),
}
HAS_DEFAULT = frozenset({"threshold"})  # may be None, which means the default
OPTION_BOUNDS: Mapping[str, tuple[float, float]] = {
    "extraction_concurrency": (1, 1_000),
    "embed_batch_size": (1, 100_000),
    "projection_batch_size": (1, 1_000_000),
    "extraction_linger": (0.0, MAX_SECONDS),
    "summary_cooldown": (0.0, MAX_SECONDS),
    "compaction_delay": (0.01, MAX_SECONDS),
    "max_attempts": (1, 1_000),
}
RANKING_BOUNDS: Mapping[str, tuple[float, float]] = {
    "vector_weight": (0.0, MAX_WEIGHT),
    "fulltext_weight": (0.0, MAX_WEIGHT),
    "fusion_candidates": (1, 10_000),
    "known_words_share": (0.01, 1.0),
    "unknown_similarity_share": (0.0, 1.0),
    "unknown_words_share": (0.0, 1.0),
    "neighbor_span": (0, 100),
    "neighbor_share": (0.0, MAX_WEIGHT),
    "passage_rank_weight": (0.0, MAX_WEIGHT),
    "named_author_weight": (0.0, MAX_WEIGHT),
    "rrf_damping": (0, 100_000),
    "entity_vector_weight": (0.0, MAX_WEIGHT),
    "entity_fulltext_weight": (0.0, MAX_WEIGHT),
    "entity_fulltext_share": (0.0, 100.0),
    "max_entity_overfetch": (1, 100),
    "max_neighbor_edges": (0, 100_000),
    "relation_similarity_share": (0.0, MAX_WEIGHT),
    "relation_degree_share": (0.0, MAX_WEIGHT),
    "relation_weight_share": (0.0, MAX_WEIGHT),
    "relation_degree_saturation": (0.001, MAX_WEIGHT),
    "relation_weight_saturation": (0.001, MAX_WEIGHT),
    "graph_token_share": (0.0, 1.0),
    "max_row_candidates": (0, 1_000),
    "max_row_evidence": (0, 10_000),
    "max_evidence_chunks": (1, 10_000),
    "max_vector_candidates": (0, 100_000),
    "chunks_per_item": (0, 1_000),
    "max_seed_mentions": (0, 1_000_000),
    "max_seed_share": (0.0, 1.0),
    "seed_fact_candidates": (0, 10_000),
    "max_titled_chunks": (0, 100_000),
    "prior_chunks": (0, 10_000),
    "prior_weight": (0.0, MAX_WEIGHT),
    "walk_rounds": (0, 100),
    "walk_batch": (1, 10_000),
    "max_walk_degree": (0, 1_000_000),
    "max_walk_edges": (0, 1_000_000),
    "max_walk_chunks": (0, 10_000),
    "walk_restart_probability": (0.0, 1.0),
    "walk_iterations": (0, 1_000),
    "max_seed_facts": (0, 10_000),
    "chunk_seed_weight": (0.0, MAX_WEIGHT),
    "restart_probability": (0.0, 1.0),
    "pagerank_iterations": (0, 1_000),
    "text_overfetch": (1, 100),
    "max_flatness": (0.0, 1.0),
    "flatness_rank": (1, 10_000),
    "min_visit_share": (0.0, 1.0),
    "min_rerank_score": (-1e9, 1e9),
}

MAX_QUESTION_CHARACTERS = 8_000
# Of what both databases find by an index; PostgreSQL's hold at most 2,704 bytes of a row.
MAX_KEY_BYTES = 2_000
KEY_HINT = "Use a shorter one, for example the hash of a long path or address, or shorten the name."
MODES = frozenset(get_args(RetrievalMode))


def repair_surrogates(text: str) -> str:
    """The text as valid Unicode: surrogate pairs are joined, a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def normalize_value(value: Value) -> Value:
    """The value with all text repaired, without NUL, and times without a zone in UTC; the same object if unchanged."""
    normalized: Any = value
    if isinstance(value, str):
        # PostgreSQL has no NUL in texts; a replacement character keeps all lengths.
        normalized = repair_surrogates(value).replace("\0", "\N{REPLACEMENT CHARACTER}")
    elif isinstance(value, datetime):
        normalized = value if value.utcoffset() is not None else value.replace(tzinfo=UTC)
    elif type(value) in COLLECTIONS:
        parts: Any = [normalize_value(part) for part in value]  # type: ignore[attr-defined]
        same = all(part is former for part, former in zip(parts, value, strict=True))  # type: ignore[call-overload]
        normalized = value if same else type(value)(parts)  # type: ignore[call-arg]
    elif is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {name: new for name, part in own.items() if (new := normalize_value(part)) is not part}
        normalized = replace(value, **changed) if changed else value
    result: Value = normalized
    return result


class OpenState:
    """Whether an engine is open; the engine and its parts share one."""

    def __init__(self) -> None:
        self._closed = False

    def close(self) -> None:
        """Let every later `check` fail."""
        self._closed = True

    def check(self) -> None:
        """Raise EngineClosed after closing."""
        if self._closed:
            raise EngineClosed("The engine is closed.")


def guard_public_methods(cls: Guarded) -> Guarded:
    """Make all public coroutines and async generators of a class check its `_state` and normalize arguments.

    `_state` is an OpenState. A parameter `path` is passed on as it is: a file name may contain bytes that are not
    valid Unicode.
    """
    for name, method in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if inspect.iscoroutinefunction(method):
            setattr(cls, name, _wrap_coroutine(method))
        elif inspect.isasyncgenfunction(method):
            setattr(cls, name, _wrap_generator(method))
    return cls


def _find_path(method: Callable[..., Any]) -> int:
    """The position of the parameter `path` after self, -1 if there is none."""
    names = list(inspect.signature(method).parameters)[1:]
    return names.index(PATH) if PATH in names else -1


def _normalize_arguments(path: int, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    return (
        [value if index == path else normalize_value(value) for index, value in enumerate(args)],
        {name: value if name == PATH else normalize_value(value) for name, value in options.items()},
    )


def _wrap_coroutine(method: Callable[..., Any]) -> Callable[..., Any]:
    path = _find_path(method)

    @functools.wraps(method)
    async def checked(self: Any, *args: Any, **options: Any) -> Any:
        self._state.check()
        positional, named = _normalize_arguments(path, args, options)
        return await method(self, *positional, **named)

    return checked


def _wrap_generator(method: Callable[..., AsyncGenerator[Any, None]]) -> Callable[..., AsyncGenerator[Any, None]]:
    path = _find_path(method)

    @functools.wraps(method)
    async def checked(self: Any, *args: Any, **options: Any) -> AsyncGenerator[Any, None]:
        self._state.check()
        positional, named = _normalize_arguments(path, args, options)
        async with aclosing(method(self, *positional, **named)) as pieces:
            async for piece in pieces:
                self._state.check()
                yield piece

    return checked


def check_number(name: str, number: object, least: float, most: float) -> None:
    """Raise OutOfRange unless the number is between the bounds, inclusive; whole bounds require a whole number."""
    needs_integer = isinstance(least, int)
    types = int if needs_integer else (int, float)
    if not isinstance(number, types) or isinstance(number, bool) or not least <= number <= most:
        kind = "a whole number" if needs_integer else "a number"
        raise OutOfRange(f"{name} must be {kind} from {least:,} to {most:,}, not {number!r:.40}.")


def check_numbers(record: Question | EngineOptions | RankingOptions, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise OutOfRange for the first field of the record that is outside its bounds."""
    for name, (least, most) in bounds.items():
        number = getattr(record, name)
        if not (number is None and name in HAS_DEFAULT):
            check_number(name, number, least, most)


def check_options(options: EngineOptions) -> None:
    """Raise OutOfRange for the first option that is outside its bounds."""
    check_numbers(options, OPTION_BOUNDS)
    check_numbers(options.ranking, RANKING_BOUNDS)


def check_length(what: str, text: str) -> None:
    """Raise InvalidDocument if a key or a name is too long to be found by an index, in either database."""
    if len(text) > MAX_KEY_BYTES // 4 and (size := len(text.encode())) > MAX_KEY_BYTES:
        raise InvalidDocument(
            f"The {what} “{text[:40]}…” has {size:,} bytes; the limit is {MAX_KEY_BYTES:,}.", hint=KEY_HINT
        )


def check_place(space: str, room: str) -> None:
    """Raise InvalidDocument if the name of a space or of a room is too long."""
    check_length("space", space)
    check_length("room", room)


def check_passages(passages: Iterable[Passage]) -> None:
    """Raise InvalidDocument if the key or the author of a passage is too long."""
    for passage in passages:
        check_length("passage key", passage.key)
        check_length("author", passage.author)


def check_document(document: Document) -> None:
    """Raise InvalidDocument if a key or a name of a document is too long."""
    check_length("document key", document.key)
    check_length("title", document.title)
    check_place(document.space, document.room)
    check_passages(document.passages)


def check_question(question: Question) -> None:
    """Raise InvalidQuestion if the text is missing, empty or too long, or a field is out of bounds."""
    if not isinstance(question.text, str):
        raise InvalidQuestion(
            f"A question must be text, not {type(question.text).__name__}.", hint="Pass the question as a string."
        )
    if not question.text.strip():
        raise InvalidQuestion("The question is empty.", hint="Enter a question.")
    if len(question.text) > MAX_QUESTION_CHARACTERS:
        raise InvalidQuestion(
            f"The question has {len(question.text):,} characters; the limit is {MAX_QUESTION_CHARACTERS:,}.",
            hint="Share the long text as a file and ask about it.",
        )
    if question.mode not in MODES:
        raise InvalidQuestion(
            f"There is no retrieval mode “{question.mode}”.", hint=f"Use one of: {', '.join(sorted(MODES))}."
        )
    check_numbers(question, QUESTION_BOUNDS)
