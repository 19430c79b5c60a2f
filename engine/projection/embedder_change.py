"""The change to another embedder: all is embedded again in the background, and the former vectors are searched, too."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from engine.errors import CorruptProjection, DiskError, EmbedderMismatch
from engine.llm.builtin_models import BUILTINS, open_builtin
from engine.llm.checked_embedder import PROBE_TEXT, embedder_identity, wrap_embedder
from engine.runtime import FormerVectors
from engine.storage.vectors.generations import VectorGenerations
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AsyncExitStack

    from engine.llm.base import Embedder
    from engine.llm.checked_embedder import CheckedEmbedder
    from engine.options import EngineOptions
    from engine.storage.ledger import LedgerStore
    from engine.storage.ledger.records import VectorPlaces
    from engine.storage.vectors.base import VectorStore

OTHER_LANGUAGES_HINT = "Set THREADLORE_LANGUAGES as it was; another list, such as en, has all vectors made again."
OTHER_PROCESSES_HINT = "End the processes that use the former languages first, or set THREADLORE_LANGUAGES as it was."
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class VectorsState:
    """`are_lost`: there are none. `are_kept`: another embedder's may stay. `is_alone`: no other process uses them.

    `is_read_only`: nothing can be written. `former_embedder`: the one that made them, if it is given.
    """

    are_lost: bool
    are_kept: bool
    is_alone: bool
    is_read_only: bool = False
    former_embedder: Embedder | None = None


async def choose_embedder(
    ledger: LedgerStore, embedder: Embedder, options: EngineOptions, vectors: VectorsState, stack: AsyncExitStack
) -> CheckedEmbedder:
    """Compare the embedder with the one that made the vectors, and record whether all must be embedded again.

    Returns the embedder to use: while nothing can be written, the one that made the vectors, which `stack` closes.
    Raises EmbedderMismatch, naming both, unless the options allow a replacement, or both are built in, the options
    name languages, and no other process uses the former one.
    """
    former = await ledger.settings.get("embedder")
    if former not in {"", embedder_identity(embedder)}:
        _check_change(former, embedder, options, vectors)
        if vectors.is_read_only and (kept := _open_former(former, vectors.former_embedder, stack)) is not None:
            return wrap_embedder(kept)
    if not vectors.is_read_only:
        await _record_embedder(ledger, embedder, former, vectors)
        await ledger.embedders.record_languages(options.languages)
    return wrap_embedder(embedder)


async def _record_embedder(ledger: LedgerStore, embedder: Embedder, former: str, vectors: VectorsState) -> None:
    """Record the embedder after `former`. Raises ModelError if it is built in, takes over and does not work."""
    name = embedder_identity(embedder)
    if former not in {"", name}:
        if name in BUILTINS:  # are its weights whole? Else all would be embedded again in vain
            await embedder.embed([PROBE_TEXT], UsageMeter())
        if vectors.are_kept and not vectors.are_lost and _can_embed(former, vectors.former_embedder):
            await ledger.embedders.begin_change(name)
            return
    elif vectors.are_lost and (await ledger.embedders.load_places()).former is not None:
        await ledger.embedders.begin_change(name)  # it ended before its first vector was stored
        return
    if former != name or (former and vectors.are_lost):
        await ledger.embedders.replace(name, reindex=bool(former))


def _check_change(former: str, embedder: Embedder, options: EngineOptions, vectors: VectorsState) -> None:
    """Raise EmbedderMismatch if the embedder may not take over."""
    name = embedder_identity(embedder)
    are_builtin = {former, name} <= BUILTINS.keys()
    if not (options.replace_embedder or (are_builtin and options.languages and vectors.is_alone)):
        hint = OTHER_LANGUAGES_HINT if are_builtin else EmbedderMismatch.hint
        if are_builtin and options.languages:
            hint = OTHER_PROCESSES_HINT
        raise EmbedderMismatch(f"The vectors in this data directory were made by {former}, not by {name}.", hint=hint)


def _can_embed(identity: str, given: Embedder | None) -> bool:
    """Whether questions may be embedded by an embedder that is not the present one."""
    return identity in BUILTINS or (given is not None and embedder_identity(given) == identity)


async def load_places(ledger: LedgerStore) -> VectorPlaces:
    """Where the vectors are; before a reindex, which makes all of them again, none are former ones."""
    if await ledger.settings.get("reindexing"):
        await ledger.embedders.finish_change()
    return await ledger.embedders.load_places()


def share_cache(options: EngineOptions, places: VectorPlaces) -> EngineOptions:
    """The options with the memory for vectors of each store: a change has two of them."""
    if places.former is None:
        return options
    return replace(options, vector_cache_bytes=options.vector_cache_bytes // 2)


async def add_former(
    ledger: LedgerStore,
    present: VectorStore,
    open_place: Callable[[int, int], Awaitable[VectorStore]],
    given: Embedder | None,
    stack: AsyncExitStack,
) -> tuple[VectorStore, FormerVectors | None]:
    """The present vectors and the former ones, if there are any.

    `open_place`: opens a place for a dimension. `given`: the former embedder; None: it is opened if it is built in.
    """
    places = await ledger.embedders.load_places()
    if places.former is None:
        return present, None
    embedder = _open_former(places.former_embedder, given, stack)
    try:
        store = await open_place(places.former, embedder.dim) if embedder is not None else None
    except (CorruptProjection, EmbedderMismatch) as error:
        log.warning("former_vectors.dropped", error=str(error))
        store = None
    if store is None or embedder is None:
        with suppress(DiskError):  # the next start that can write drops them
            await ledger.embedders.drop_former()
        return present, None
    return VectorGenerations(present, store), FormerVectors(store, wrap_embedder(embedder))


def _open_former(identity: str, given: Embedder | None, stack: AsyncExitStack) -> Embedder | None:
    if given is not None and embedder_identity(given) == identity:
        return given
    return open_builtin(identity, stack)
