"""Find statements that disagree, and whom they may be shown to; nothing of them is stored."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.answers.review.rights import may_verify
from bot.errors import PlatformError
from bot.permissions.managers import is_workspace_manager
from bot.permissions.provenance import Provenance, can_read, provenance_of_room
from bot.platform.models import Location
from bot.store.models import passage_key
from bot.store.schedules.contradictions import KnownContradiction
from bot.texts.overviews.coverage import describe_coverage, describe_wrong
from engine import Filters, Question, Scope
from engine.llm.offline.contradictions.coverage import measure_coverage, says_one_thing
from engine.llm.offline.contradictions.finding import MAX_APART, find_contradictions
from engine.models import Overview

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.context import BotContext
    from engine import Context, Engine, Source
    from engine.llm.offline.contradictions.finding import Contradiction


MAX_PAGES = 10  # of passages, the newest; each has up to 200 chunks
PAGE_TOKENS = 100_000
ID_LENGTH = 12
MAX_SOURCES = 30  # that are compared
# People who write most, of whom is asked whether they manage; who is told besides authors.
MAX_LOOKED_UP, MAX_TOLD = 30, 3


async def find_in_scope(engine: Engine, scope: Scope, now: datetime) -> dict[str, Contradiction]:
    """What disagrees among the passages of a scope of the last months, by id, the newest first."""
    sources = await _load(engine, scope, Filters(since=now - MAX_APART))
    found = await asyncio.to_thread(find_contradictions, sources)
    return {build_id(contradiction): contradiction for contradiction in reversed(found)}


async def _load(engine: Engine, scope: Scope, within: Filters) -> list[Source]:
    found = dict[tuple[str, str, str], "Source"]()
    for _ in range(MAX_PAGES):
        question = Question("news", scope, filters=within, overview=Overview("digest"), max_total_tokens=PAGE_TOKENS)
        context = await engine.retrieve(question)
        found |= {(source.document, source.passage, source.text): source for source in context.sources}
        oldest = min((source.time for source in context.sources if source.time), default=None)
        if oldest is None or context.overview is None or not context.overview.truncated:
            break
        within = replace(within, until=oldest - timedelta(microseconds=1))
    return list(found.values())


def build_id(found: Contradiction) -> str:
    """The id of two statements, which says nothing of their words."""
    parts = (key_of(found.older.source), key_of(found.newer.source), found.aspect)
    return sha256("\0".join(("contradiction", *parts)).encode()).hexdigest()[:ID_LENGTH]


def key_of(source: Source) -> str:
    """The key of the message or file of a source."""
    return passage_key(source.document, source.room, source.passage)


def describe_known(found: Contradiction, place: Location) -> KnownContradiction:
    """What is stored of two statements once somebody is told or decides."""
    return KnownContradiction(build_id(found), place, key_of(found.older.source), key_of(found.newer.source))


def list_rooms(found: Contradiction) -> frozenset[str]:
    """The rooms of both statements."""
    return frozenset({found.older.source.room, found.newer.source.room})


async def list_coverage_notices(
    context: BotContext, sources: Sequence[Source], retrieved: Context | None, place: Location, person: str = ""
) -> list[str]:
    """How many of the cited sources say the same, how many disagree, and which somebody found wrong; often nothing.

    Of a wrong one is told where the right one may be read, by a person alone or by everyone at a place.
    """
    if context.settings.contradictions == "off" or not sources or retrieved is None:
        return []
    cited = {source.number for source in sources}
    replaced = {pair.older for pair in retrieved.replacements if pair.older in cited}
    found = await asyncio.to_thread(measure_coverage, sources[:MAX_SOURCES], replaced) if len(cited) > 1 else None
    notices = [describe_coverage(found, context.clock.now())] if found else []
    keys = {key_of(source): source.number for source in sources if says_one_thing(source)}
    wrong = {
        keys[key]
        for key, room in await context.store.contradictions.list_wrong(keys)
        if await can_read(context.audience, provenance_of_room(room), place, person)
    }
    return [*notices, *([describe_wrong(sorted(wrong))] if wrong else [])]


class ContradictionAudience:
    """Finds the people; who may read what is resolved when they are asked for."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store

    async def list_people(self, found: Contradiction, place: Location) -> list[str]:
        """The ids of those to tell, in the workspace of `place`; none if that is not certain."""
        authors = await self.list_authors(found)
        if authors and all([await self.may_be_told(found, place, author) for author in authors]):
            return await self._list_willing(place, authors)
        told = list[str]()
        for person in await self._list_willing(place, await self._list_reviewers(place)):
            if len(told) < MAX_TOLD and await self.may_be_told(found, place, person):
                told += [person] if await self.may_review(found, person) else []
        return told

    async def list_authors(self, found: Contradiction) -> list[str]:
        """Who wrote or shared the statements; none if that is unknown for one of them."""
        people = [await self.find_author(claim.source) for claim in (found.older, found.newer)]
        return list(dict.fromkeys(people)) if all(people) else []

    async def find_author(self, source: Source) -> str:
        """Who wrote the message or shared the file of a source; empty if that is unknown."""
        message = await self._store.messages.get(source.room, source.passage)
        if message is not None and message.document == source.document:
            return message.author
        file = await self._store.files.get(source.document)
        return file.author if file is not None else ""

    async def may_read(self, found: Contradiction, place: Location, person: str) -> bool | None:
        """Whether a person may read both statements now; None if that is unknown."""
        used = Provenance(Scope(frozenset(), list_rooms(found)), {}, 0.0)
        return await can_read(self._context.audience, used, place, person)

    async def may_review(self, found: Contradiction, person: str) -> bool:
        """Whether a person may certainly verify answers where one of both statements is."""
        places = [Location.from_room(room) for room in sorted(list_rooms(found))]
        return any([await may_verify(self._context, place, person) for place in places])

    async def may_be_told(self, found: Contradiction, place: Location, person: str) -> bool:
        """Whether somebody is a person with an account, did not opt out, and may certainly read both statements now."""
        where = (place.platform, place.workspace)
        with suppress(PlatformError):
            known = await self._context.audience.get_person(*where, person)
            if known.is_deactivated or known.is_bot:
                return False
            if await self._store.opt_outs.is_opted_out(*where, person, self._context.clock.now()):
                return False
            return bool(await self.may_read(found, place, person))
        return False

    async def _list_willing(self, place: Location, people: Sequence[str]) -> list[str]:
        """Those who did not say that they want to be told of none."""
        return [person for person in people if not await self._store.contradictions.is_off(place, person)]

    async def _list_reviewers(self, place: Location) -> list[str]:
        """The experts of a workspace, and its managers among those who write most."""
        where = (place.platform, place.workspace)
        people = [expert.person for expert in await self._store.experts.list_in_workspace(*where)]
        for person in await self._store.messages.list_frequent_authors(*where, MAX_LOOKED_UP):
            with suppress(PlatformError):
                if is_workspace_manager(await self._context.audience.get_person(*where, person)):
                    people.append(person)
        return list(dict.fromkeys(people))
