"""Put the sentences of an answer that stay before what a fresh answer says from other sources. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.store import AnswerResult
from bot.text.citing.sentences import cited_numbers, keep_sentences, renumber

if TYPE_CHECKING:
    from bot.store import AnswerSource, StoredAnswer


def result_of(stored: StoredAnswer) -> AnswerResult:
    """What is stored of an answer, as a result."""
    return AnswerResult(stored.text, stored.sources, stored.documents, stored.spaces, stored.rooms, stored.shown_keys)


def merge_results(kept: AnswerResult, fresh: AnswerResult | None) -> AnswerResult:
    """The kept sentences word for word, then those of the fresh answer that cite something else."""
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
        f"{kept.text}\n{renumber(added, numbers)}",
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
