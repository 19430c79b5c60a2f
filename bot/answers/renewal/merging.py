"""Put the sentences of an answer that stay before what a fresh answer says from other sources. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.store import AnswerResult
from bot.store.control.untouched import select_spaces, select_untouched
from bot.store.models import source_keys
from bot.text.citing_sentences import cited_numbers, keep_sentences, renumber

if TYPE_CHECKING:
    from bot.store import AnswerSource, StoredAnswer


def result_of(stored: StoredAnswer) -> AnswerResult:
    """What is stored of an answer, as a result."""
    return AnswerResult(stored.text, stored.sources, stored.documents, stored.spaces, stored.rooms, stored.shown_keys)


def keep_current(stored: StoredAnswer, replaced: frozenset[str]) -> AnswerResult:
    """What of an answer rests on none of the messages with these keys."""
    text, sources = select_untouched(stored.text, stored.sources, stored.documents, replaced) or ("", ())
    keys = frozenset[str]().union(*map(keys_of, sources))
    spaces = select_spaces(stored.spaces, sources)
    return AnswerResult(text, sources, keys, spaces, frozenset(source.room for source in sources), keys)


def is_current(fresh: AnswerResult, newer: str, replaced: frozenset[str]) -> bool:
    """Whether an answer cites the newer message, or at least none that it replaces."""
    cited = frozenset[str]().union(*map(keys_of, fresh.sources))
    return newer in cited or not cited & replaced


def keys_of(source: AnswerSource) -> frozenset[str]:
    """The keys of a source."""
    return source_keys(source.document, source.room, source.passage)


def put_before(fresh: AnswerResult, kept: AnswerResult, limit: int) -> AnswerResult:
    """What a fresh answer says from other sources, then the kept sentences; alone if both are over `limit`."""
    merged = merge_results(kept, fresh, new_first=True)
    return fresh if len(merged.text) > limit else merged


def merge_results(kept: AnswerResult, fresh: AnswerResult | None, *, new_first: bool = False) -> AnswerResult:
    """The kept sentences word for word, then (or before, `new_first`) those of the fresh answer that cite others."""
    if fresh is None or not kept.text:
        return fresh or kept
    numbers = _number_sources(kept.sources, fresh.sources)
    held = {source.number for source in kept.sources}
    new = {number for number, other in numbers.items() if other not in held}
    added = keep_sentences(fresh.text, lambda _, cited: bool(cited & new))
    if not added:
        return kept
    cited = cited_numbers(added)
    further = (
        replace(source, number=numbers[source.number]) for source in fresh.sources if source.number in cited & new
    )
    return AnswerResult(
        f"{renumber(added, numbers)}\n{kept.text}" if new_first else f"{kept.text}\n{renumber(added, numbers)}",
        (*kept.sources, *further),
        kept.documents | fresh.documents,
        kept.spaces | fresh.spaces,
        kept.rooms | fresh.rooms,
        kept.shown_keys | fresh.shown_keys,
    )


def _number_sources(kept: tuple[AnswerSource, ...], fresh: tuple[AnswerSource, ...]) -> dict[int, int]:
    """The numbers of the fresh sources: those of the kept ones where they are the same, otherwise further ones."""
    known = {(source.document, source.passage): source.number for source in kept}
    following = max((source.number for source in kept), default=0) + 1
    numbers: dict[int, int] = {}
    for source in fresh:
        passage = source.document, source.passage
        if passage not in known:
            known[passage], following = following, following + 1
        numbers[source.number] = known[passage]
    return numbers
