"""Find what to search with: the stand-alone question, keywords, and filters; each rewritten once.

What the model proposes is checked: names and words must stand in the question itself, so that no text of others can set
a filter; a channel must contain something within the scope, a person must have written something there, under this name
alone; days must be possible. A filter that was given otherwise wins. The scope never changes.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from engine.clock import Stopwatch
from engine.errors import WRITES_REFUSED, EngineClosed, StoreError
from engine.llm.base import MODEL_LABEL, FilterProposer, RewriteRequest, guard_plugin_call
from engine.llm.source_lines import cite_history
from engine.models import Filters, InferredFilters, SearchQuery
from engine.retrieval.passage_scores import hides_authors, list_authors
from engine.scheduling.supervisor import cancel_tasks, child_task, describe_error
from engine.text.languages.unspaced import has_unspaced, normalize_text
from engine.text.overviews import match_authors

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Sequence
    from datetime import tzinfo
    from typing import Any

    from engine.clock import Clock
    from engine.llm.base import LanguageModel
    from engine.models import FilterLookup, LLMMessage, ProposedFilters, Question, Scope
    from engine.retrieval.results import RetrievalResult
    from engine.retrieval.retriever import Retriever
    from engine.runtime import Runtime
    from engine.storage.ledger import LedgerStore
    from engine.usage import UsageMeter


MAX_QUERIES = 1000
log = structlog.get_logger(__name__)
EARLIEST = date(1970, 1, 1)
MAX_NAME_CHARACTERS = 80
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r"\w+")


class QueryCache:
    """Least recently used entries are evicted. Nothing is written to disk."""

    def __init__(self, max_size: int = MAX_QUERIES) -> None:
        self._max_size = max_size
        self._queries: OrderedDict[Hashable, SearchQuery] = OrderedDict()

    async def get_or_create(self, key: Hashable, make: Callable[[], Awaitable[SearchQuery]]) -> SearchQuery:
        """The cached query of this key, or a new one; queries without keywords are not cached."""
        if key in self._queries:
            self._queries.move_to_end(key)
            return self._queries[key]
        query = await make()
        if query.ignored or query.high or (query.low and query.low != (query.question,)):
            self._queries[key] = query
            while len(self._queries) > self._max_size:
                self._queries.popitem(last=False)
        return query


def answer_cache_key(language: str, model: str, messages: Sequence[LLMMessage], scope: Scope | None) -> bytes:
    """SHA-256 of the model, the scope and the final messages, so that a cached answer is never outdated.

    The scope is included because a fast answer would reveal that somebody asked the same question before.
    """
    scope_keys = [sorted(scope.spaces), sorted(scope.rooms)] if scope else None
    content = [language, model, scope_keys, *([message.role, message.content] for message in messages)]
    return sha256(json.dumps(content, ensure_ascii=False).encode()).digest()


async def keep_if_possible(write: Awaitable[object]) -> None:
    """Store what an answer can do without: where nothing can be written, it does not fail."""
    try:
        await write
    except WRITES_REFUSED as error:
        log.warning("answer.not_kept", error=str(error))


@dataclass(slots=True)
class QueryRewriter:
    """Lets the model rewrite questions, each once."""

    language: LanguageModel
    clock: Clock
    cache: QueryCache = field(default_factory=QueryCache)

    async def build_query(self, question: Question, meter: UsageMeter) -> SearchQuery:
        """The stand-alone question with its keywords: given, cached, or from the model.

        A naive question without history needs no call. Where the call fails, the question is searched with as it is.
        The scope is part of the cache key, because a fast reply would
        reveal that somebody asked the same question before.
        """
        question = replace(question, history=cite_history(question.history, ()))
        day = question.filters.as_of or self.clock.now().astimezone(question.zone).date()
        filtering = question.filter_lookup is not None
        key = (question.is_unaddressed, question.text, question.history, day, filtering, question.asker, question.scope)
        if question.is_unaddressed:
            return await self.cache.get_or_create(key, lambda: self._rewrite_unaddressed(question, day, meter))
        if question.high or question.low:
            return SearchQuery(question.text, question.high, question.low)
        if question.mode == "naive" and not question.history:
            return SearchQuery(question.text)
        try:
            query = await self.cache.get_or_create(key, lambda: self._rewrite(question, day, meter))
        except (EngineClosed, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 - a failed helper call must not fail the question
            log.warning("answer.question_not_rewritten", error=describe_error(error))
            query = SearchQuery(question.text, unrewritten=True)
        return query if query.high or query.low else replace(query, low=(query.question,))

    async def _rewrite(self, question: Question, day: date, meter: UsageMeter) -> SearchQuery:
        language, asker = self.language, question.asker
        with guard_plugin_call(MODEL_LABEL):
            if question.filter_lookup is not None and isinstance(language, FilterProposer):
                request = RewriteRequest(question.text, question.history, day, asker)
                return await language.rewrite_query_with_filters(request, meter)
            return await language.rewrite_query(question.text, question.history, meter, today=day, asker=asker)

    async def _rewrite_unaddressed(self, question: Question, day: date, meter: UsageMeter) -> SearchQuery:
        rewrite = self.language.rewrite_unaddressed_query
        with guard_plugin_call(MODEL_LABEL):
            query = await rewrite(question.text, question.history, meter, today=day, asker=question.asker)
        return query or SearchQuery(question.text, ignored=True)


async def retrieve_with_filters(
    runtime: Runtime,
    retriever: Retriever,
    question: Question,
    rewriting: Coroutine[Any, Any, SearchQuery],
    meter: UsageMeter,
) -> RetrievalResult:
    """Retrieve within the filters that the rewritten question proposes; without them, if nothing matches.

    The search without filters begins at once, since most questions have none.
    """
    lookup = question.filter_lookup
    if lookup is None:
        return await retriever.retrieve(question, rewriting, meter)
    try:
        return await _retrieve_narrowed(runtime, retriever, question, rewriting, meter)
    finally:
        rewriting.close()  # a task that is cancelled before it begins does not await it


async def _retrieve_narrowed(
    runtime: Runtime,
    retriever: Retriever,
    question: Question,
    rewriting: Coroutine[Any, Any, SearchQuery],
    meter: UsageMeter,
) -> RetrievalResult:
    watch = Stopwatch(runtime.clock)
    async with (
        child_task(watch.measure("condense", rewriting)) as query,
        child_task(_retrieve(retriever, question, query, meter)) as whole,
    ):
        proposed = (await query).proposed
        if proposed and hides_authors(question.scope, runtime.options.spaces_without_authors):
            proposed = replace(proposed, authors=())
        found = await infer_filters(runtime.ledger, question, proposed, runtime.clock.now()) if proposed else None
        if found is None:
            return await whole
        await cancel_tasks(whole)
        filters, inferred = found
        result = await _retrieve(retriever, replace(question, filters=filters), query, meter)
        if not result.context.sources:
            inferred = replace(inferred, found=False)
            result = await _retrieve(retriever, question, query, meter)
    timings = {**result.context.timings, **watch.timings}
    return replace(result, context=replace(result.context, timings=timings, inferred=inferred))


async def _retrieve(
    retriever: Retriever, question: Question, query: asyncio.Task[SearchQuery], meter: UsageMeter
) -> RetrievalResult:
    """Retrieve once the question is rewritten; that may go on when this is cancelled."""
    rewriting = _wait(query)
    try:
        return await retriever.retrieve(question, rewriting, meter)
    finally:
        rewriting.close()


async def _wait(query: asyncio.Task[SearchQuery]) -> SearchQuery:
    return await asyncio.shield(query)


async def infer_filters(
    ledger: LedgerStore, question: Question, proposed: ProposedFilters, now: datetime
) -> tuple[Filters, InferredFilters] | None:
    """The filters of a question with those that were proposed and passed all checks; None if none did.

    Of several names, all or none are used.
    """
    within, inferred, lookup = question.filters, InferredFilters(), question.filter_lookup
    if lookup is None:
        return None
    if not (within.rooms or within.documents) and (rooms := await _find_rooms(ledger, question, lookup, proposed)):
        within = replace(within, rooms=rooms)
        inferred = replace(inferred, channels=tuple(channel.removeprefix("#") for channel in proposed.channels))
    if not (within.authors or within.documents) and (authors := await _find_authors(ledger, question, proposed)):
        within, inferred = replace(within, authors=frozenset(authors)), replace(inferred, authors=authors)
    if not (within.since or within.until) or (within.as_of and not within.since):
        since, until = parse_days(proposed, question.text, within.as_of or now.astimezone(question.zone).date())
        end = min(filter(None, (within.until, _end_of_day(until, question.zone))), default=None)
        within = replace(within, since=_midnight(since, question.zone), until=end)
        inferred = replace(inferred, since=since, until=until)
    if not (within.kinds or within.documents) and stands_in(proposed.file_words, question.text):
        within, inferred = replace(within, kinds=frozenset({"file"})), replace(inferred, only_files=True)
    return (within, inferred) if within != question.filters else None


def stands_in(words: str, text: str) -> bool:
    """Whether these words stand in a text, in any case of letters; in scripts without spaces, as a part of it."""
    wanted, whole = _fold(words), _fold(text)
    if not wanted or len(words) > MAX_NAME_CHARACTERS:
        return False
    return wanted in whole if has_unspaced(wanted) else f" {wanted} " in f" {whole} "


def parse_days(proposed: ProposedFilters, text: str, today: date) -> tuple[date | None, date | None]:
    """The first and the last proposed day, either of them None if it is open; both if anything is wrong."""
    given = (proposed.since, proposed.until)
    days = tuple(map(_parse_day, given))
    since, until = days
    is_valid = all(day is not None or not words for day, words in zip(days, given, strict=True))
    if not is_valid or not stands_in(proposed.date_words, text) or (since or EARLIEST) > min(until or today, today):
        return None, None
    return since, until if until and until < today else None


def _parse_day(words: str) -> date | None:
    try:
        day = date.fromisoformat(words) if _DAY.fullmatch(words) else None
    except ValueError:
        return None
    return day if day and day >= EARLIEST else None


async def _find_rooms(
    ledger: LedgerStore, question: Question, lookup: FilterLookup, proposed: ProposedFilters
) -> frozenset[str]:
    """The rooms of the channels; none if a name is unknown, or belongs to nothing within the scope."""
    found = set[str]()
    for name in proposed.channels:
        bare = name.removeprefix("#").strip().casefold()
        rooms = await lookup.find_rooms(bare) if stands_in(bare, question.text) else frozenset[str]()
        if not rooms or not await _has_content(ledger, question, rooms):
            return frozenset()
        found |= rooms
    return frozenset(found)


async def _has_content(ledger: LedgerStore, question: Question, rooms: frozenset[str]) -> bool:
    found = (await ledger.search.load_scope(question.scope, Filters(rooms=rooms))).filters
    return found is not None and (found.matching_chunks.ids is None or bool(found.matching_chunks.ids))


async def _find_authors(ledger: LedgerStore, question: Question, proposed: ProposedFilters) -> tuple[str, ...]:
    """The people who wrote something within the scope; none if a name is unknown or that of several."""
    if not proposed.authors or not _all_stand_in(proposed.authors, question.text):
        return ()
    authors = await list_authors(ledger, question.scope)
    found = [match_authors(name, authors) for name in proposed.authors]
    return tuple(values[0] for values in found) if all(len(values) == 1 for values in found) else ()


def _all_stand_in(names: Iterable[str], text: str) -> bool:
    return all(stands_in(name, text) for name in names)


def _midnight(day: date | None, zone: tzinfo) -> datetime | None:
    return datetime.combine(day, time.min, zone).astimezone(UTC) if day else None


def _end_of_day(day: date | None, zone: tzinfo) -> datetime | None:
    following = _midnight(day + timedelta(days=1), zone) if day else None
    return following - timedelta(microseconds=1) if following else None


def _fold(text: str) -> str:
    return " ".join(_WORD.findall(normalize_text("NFKC", text).casefold()))
