"""Keep, list and end standing requests of a person, or of a space of the terminal."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from bot.answers.watches.matching import select_events
from bot.answers.watches.words import describe_promise
from bot.capabilities.access.control import locate_subject
from bot.capabilities.results import Completed, Listing
from bot.i18n import gettext
from bot.store.schedules.watches import Watch
from bot.text.excerpts import strip_speaker, truncate_line
from bot.text.format import format_utc
from bot.text.speech.watch_phrases import parse_watch_words
from engine import Filters, Question
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import BotParts, Deps
    from bot.capabilities.watches.requests import AddWatch, EndWatch, ListWatches
    from engine import Source

COLUMNS = ("id", "kind", "subject", "since", "found", "newest", "link")
MAX_PER_CALLER = 20
ID_BYTES = 4
ALL = "all"
MAX_CHUNKS, MAX_TOKENS = 100, 1_000_000  # that are looked through for each of them


async def watch(deps: Deps, caller: Caller, request: AddWatch) -> AsyncGenerator[Completed]:
    """Keep a standing request from now on. Raises InvalidQuestion without a subject, or if there are too many."""
    parts, place = await deps.parts.open(), locate_subject(caller.subject)
    wanted = parse_watch_words(request.text)
    if wanted is None:
        raise InvalidQuestion(gettext("What should I tell you about?"))
    whose = place.platform, place.workspace, caller.subject.person
    kept = Watch(secrets.token_hex(ID_BYTES), *whose, *wanted, caller.time or deps.clock.now())
    if not await parts.store.watches.add(kept, MAX_PER_CALLER):
        raise InvalidQuestion(
            gettext("I already tell you about {count} things.").format(count=MAX_PER_CALLER),
            hint=gettext("End one of them first."),
        )
    yield Completed(describe_promise(wanted.kind, wanted.subject))


async def watches(deps: Deps, caller: Caller, _request: ListWatches) -> AsyncGenerator[Listing]:
    """Yield the standing requests of the caller, with what they can read now of the messages that were found."""
    parts = await deps.parts.open()
    mine = await _list_own(parts, caller)
    found = await _find_events(deps, parts, caller, mine) if mine else {}
    yield Listing(COLUMNS, tuple(_describe(watch_, found.get(watch_.id, [])) for watch_ in mine))


async def unwatch(deps: Deps, caller: Caller, request: EndWatch) -> AsyncGenerator[Completed]:
    """End the standing requests with these words or this id, or all of them. Raises NotFound."""
    parts = await deps.parts.open()
    words = " ".join(request.subject.split()).casefold()
    mine = await _list_own(parts, caller)
    wanted = parse_watch_words(request.subject)
    names = {words, wanted.subject.casefold() if wanted else words}
    if words == ALL:
        await parts.store.watches.delete([watch_.id for watch_ in mine])
        yield Completed(gettext("I won't tell you about anything anymore."))
        return
    ended = [watch_ for watch_ in mine if {watch_.id, watch_.subject.casefold()} & names]
    if not ended:
        raise NotFound(
            gettext("You didn't ask me to tell you about that."),
            hint=gettext("The list of watches shows what I tell you about."),
        )
    await parts.store.watches.delete([watch_.id for watch_ in ended])
    subjects = ", ".join(f"“{watch_.subject}”" for watch_ in ended)
    yield Completed(gettext("I won't tell you about {subjects} anymore.").format(subjects=subjects))


async def _list_own(parts: BotParts, caller: Caller) -> list[Watch]:
    return await parts.store.watches.list_of(locate_subject(caller.subject), caller.subject.person)


async def _find_events(deps: Deps, parts: BotParts, caller: Caller, mine: Sequence[Watch]) -> dict[str, list[Source]]:
    """The messages of others that each watch waited for, by its id, within what the caller may read."""
    person, found = caller.subject.person, dict[str, list["Source"]]()
    for watch_ in mine:
        question = Question(
            watch_.subject,
            caller.scope,
            mode="naive",
            low=(watch_.subject,),
            filters=Filters(since=watch_.created_at),
            chunk_top_k=MAX_CHUNKS,
            max_total_tokens=MAX_TOKENS,
            rerank=False,
            for_prompt=False,
        )
        sources = (await deps.engine.retrieve(question)).sources
        events = (await asyncio.to_thread(select_events, sources, [watch_]))[watch_.id]
        found[watch_.id] = [event for event in events if not await _wrote(parts, person, event)]
    return found


async def _wrote(parts: BotParts, person: str, source: Source) -> bool:
    if not person:
        return False
    message, file = (
        await parts.store.messages.get(source.room, source.passage),
        await parts.store.files.get(source.document),
    )
    return person in {record.author for record in (message, file) if record is not None}


def _describe(each: Watch, found: Sequence[Source]) -> tuple[str, ...]:
    newest = found[-1] if found else None
    said = f"{newest.author or newest.title}: {truncate_line(strip_speaker(newest.text))}" if newest else ""
    link = newest.link if newest else ""
    return each.id, each.kind, each.subject, format_utc(each.created_at), str(len(found)), said.removeprefix(": "), link
