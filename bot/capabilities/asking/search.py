"""Search for passages: those that have the words of a search, else the closest ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.capabilities.asking.asker import find_named_rooms, find_zone
from bot.capabilities.asking.matching_words import SoughtWords, build_excerpt
from bot.capabilities.asking.requests import SearchHit, SearchResult
from bot.capabilities.documents.listing import has_words
from bot.text.excerpts import strip_heading, strip_speaker
from bot.text.search_filters import (
    FILTERED_OVERVIEW,
    add_filters,
    limit_as_of,
    narrow_question,
    parse_search_filters,
    require_names,
)
from engine import Filters, Question
from engine.errors import InvalidQuestion
from engine.models import Overview
from engine.text.overviews import match_authors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import datetime

    from bot.capabilities.asking.requests import Search
    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.text.search_filters import SearchFilters
    from engine import Context, Source

MAX_CHUNKS = 200  # that are searched for the words
MAX_SIMILAR = 10  # passages that are shown if none has the words
MAX_TOKENS, MAX_LISTED_TOKENS = 10_000_000, 8_000  # of what is searched; of the newest, without words to search for
NO_DOCUMENT = "?"  # no key is this


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The passages that are shown, the best first. `is_similar`: none of them has the words.

    `is_truncated`: there may be more that match.
    """

    sources: tuple[Source, ...]
    words: SoughtWords
    is_similar: bool = False
    is_truncated: bool = False


async def search(deps: Deps, caller: Caller, request: Search) -> AsyncGenerator[SearchResult]:
    """Yield a page of the passages that were found. Raises InvalidQuestion without words and filters."""
    question = await _build_question(deps, caller, request)
    context = await deps.engine.retrieve(question)
    ranked = _rank(question, context)
    shown = ranked.sources[request.offset : request.offset + request.limit]
    kinds = await deps.engine.documents.get_kinds({source.document for source in shown}, caller.scope)
    corrected = tuple(each for _, each in context.question.corrections)
    yield SearchResult(
        tuple(_build_hit(source, ranked.words, kinds.get(source.document, "")) for source in shown),
        len(ranked.sources),
        is_similar=ranked.is_similar,
        is_truncated=ranked.is_truncated,
        corrected=corrected,
        as_of=question.filters.as_of,
    )


async def _build_question(deps: Deps, caller: Caller, request: Search) -> Question:
    """The question whose context is searched. It asks no model: its keywords are given."""
    zone = await find_zone(deps, caller, request.zone)
    now = deps.clock.now().astimezone(zone)
    sought, chosen = parse_search_filters(request.text.strip(), now), _parse_options(request, now)
    question = Question(
        sought.text or FILTERED_OVERVIEW,
        caller.scope,
        mode="naive",
        filters=Filters(
            documents=await _find_documents(deps, caller, request.file),
            kinds=frozenset({request.type}) if request.type else frozenset(),
        ),
        high=(sought.text,),
        low=(sought.text,),
        chunk_top_k=MAX_CHUNKS,
        max_total_tokens=MAX_TOKENS,
        rerank=False,
        for_prompt=False,
        zone=zone,
    )
    # What the fields of a form say and what the words say holds both.
    for filters in (chosen, limit_as_of(request.as_of, now), sought):
        question = await _narrow(deps, caller, question, filters)
    if sought.text:
        return question
    if not (question.filters.is_active or question.writers):
        raise InvalidQuestion("There is nothing to search for.", hint="Type some words, or choose a filter.")
    return replace(question, overview=Overview("summary"), max_total_tokens=MAX_LISTED_TOKENS)


def _parse_options(request: Search, now: datetime) -> SearchFilters:
    """The filters that the fields of a search are. Raises InvalidQuestion for a bad value."""
    options = {"in": request.channel, "from": request.person, "since": request.since, "until": request.until}
    return parse_search_filters(add_filters("", options, now), now)


async def _narrow(deps: Deps, caller: Caller, question: Question, sought: SearchFilters) -> Question:
    """Narrow a question by filters: those of before still hold. Raises InvalidQuestion for ids."""
    require_names(sought)
    if question.writers and sought.person_names:
        question = await _fix_writers(deps, question)
    return narrow_question(question, sought, await find_named_rooms(deps, caller, sought.channel_names))


async def _fix_writers(deps: Deps, question: Question) -> Question:
    """A question restricted to its writers for good, so that further ones do not widen it; not by unclear names."""
    authors = await deps.engine.documents.list_authors(question.scope)
    found = [match_authors(name, authors) for name in question.writers]
    if any(len(matches) != 1 for matches in found):
        return question  # the engine says which name is unclear
    named = frozenset(author for matches in found for author in matches)
    return replace(question, writers=(), filters=replace(question.filters, authors=named))


async def _find_documents(deps: Deps, caller: Caller, words: str) -> frozenset[str]:
    """The documents that have these words in their title or key; a search of none of them finds nothing."""
    if not words.strip():
        return frozenset()
    listed = await deps.engine.documents.list(caller.scope)
    return frozenset(document.key for document in listed if has_words(document, words)) or frozenset({NO_DOCUMENT})


def _rank(question: Question, context: Context) -> _Ranked:
    """The passages with most of the words first; without words to search for, the newest."""
    if question.overview is not None:
        newest = sorted(context.sources, key=lambda each: each.time.timestamp() if each.time else 0.0, reverse=True)
        return _Ranked(tuple(newest), SoughtWords(), is_truncated=bool(context.overview and context.overview.truncated))
    words = SoughtWords.parse(f"{question.text} {' '.join(each for _, each in context.question.corrections)}")
    counts = {source: words.count(f"{source.title} {source.author} {source.text}") for source in context.sources}
    if matching := sorted((count for count in counts if counts[count]), key=lambda each: -counts[each]):
        is_truncated = len({source.chunk for source in context.sources}) >= MAX_CHUNKS
        return _Ranked(tuple(matching), words, is_truncated=is_truncated)
    return _Ranked(context.sources[:MAX_SIMILAR], words, is_similar=True)


def _build_hit(source: Source, words: SoughtWords, kind: str) -> SearchHit:
    text = strip_heading(strip_speaker(source.text), source.label).strip()
    return SearchHit(source, kind, build_excerpt(text, words.find_spans(text)))
