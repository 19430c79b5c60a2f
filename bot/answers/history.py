"""What was said in a thread before a question, as far as the readers of its answer may know it.

Answers are remembered with the spaces that they drew on, and are history only where these lie in scope; a private one
only for the person who alone saw it.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.answers.request import spoken
from bot.errors import PlatformError
from bot.ingest.conversations import author_key
from bot.permissions.audience import addressed, covers
from bot.permissions.provenance import place_of
from bot.platform.models import Message
from bot.store.models import message_key
from engine.errors import EngineError
from engine.models import Scope, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bot.answers.request import Request
    from bot.context import House
    from bot.platform.models import Place
    from bot.store import Stored

log = structlog.get_logger(__name__)

MESSAGES = 30  # of a thread, the newest
ANSWERS = 10  # of the bot's own
PATIENCE = 3.0  # seconds for the platform to tell what was said

_MARK = re.compile(r" ?\[\d+\]")


@dataclass(frozen=True, slots=True)
class Past:
    """The turns before a question, and what they drew on; `told` are their texts, each with the keys it rests on.

    `shown`: the keys of all that their words may come from.
    """

    turns: tuple[Turn, ...] = ()
    drawn: Scope = Scope(frozenset(), frozenset())  # noqa: RUF009 - frozen
    told: tuple[tuple[str, frozenset[str]], ...] = ()

    shown: frozenset[str] = frozenset()


class Historian:
    """Remembers threads: the bot's own answers from its store, what others said from the platform."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def before(self, request: Request, scope: Scope) -> Past:
        """What was said before a question that may be used within a scope."""
        if not request.place.thread and request.place.workspace:
            return Past()
        answers, messages = await asyncio.gather(self._answers(request, scope), self._messages(request, scope))
        said = [each for each in messages if each.id not in {answer.message for answer in answers}]
        rooms = frozenset({request.place.room}) if said else frozenset()
        drawn = Scope(
            frozenset(space for each in answers for space in each.spaces),
            rooms.union(*(each.rooms for each in answers)),
        )
        heard = await self._told(said)
        told = [(f"{each.question}\n{each.text}", each.documents) for each in answers]
        told += [(turn.text, keys(each)) for each, (_, turn) in zip(said, heard, strict=True)]
        shown = frozenset().union(*(each.shown for each in answers), *(keys_ for _, keys_ in told))
        return Past(merged(answers, heard), drawn, tuple(told), shown)

    async def _answers(self, request: Request, scope: Scope) -> list[Stored]:
        """The latest answers before a question that may be used within a scope, oldest first."""
        turns = self._house.store.answers.turns
        asker = request.person if request.private else ""
        found: list[Stored] = []
        seen = 0
        while len(found) < ANSWERS:
            page = await turns(request.place, request.time, ANSWERS, skip=seen, asker=asker)
            found += await self._within(page or await self._first(request), scope)
            seen += len(page)
            if not page:
                break
        others = {each.id: each for each in found if each.id != request.id}
        return sorted(others.values(), key=lambda each: each.time)[-ANSWERS:]

    async def _first(self, request: Request) -> list[Stored]:
        """The answer in whose message the thread began, and the one that is replied to, if all saw them."""
        place, of_message = request.place, self._house.store.answers.of_message
        messages = filter(None, (place.thread, replied(request)))
        found = [await of_message(place.main, each) for each in messages]
        seen = [each for each in found if each is not None and each.state == "done" and not each.private]
        return [each for each in seen if each.time < request.time]

    async def _within(self, answers: Sequence[Stored], scope: Scope) -> list[Stored]:
        homes = await self._homes({room for each in answers for room in each.rooms} - addressed(scope))
        return [each for each in answers if covers(scope, Scope(each.spaces, each.rooms), homes)]

    async def spoke(self, place: Place) -> bool:
        """Whether the bot answered in a thread, even if that was forgotten since; also by what it began with."""
        answers = self._house.store.answers
        if await answers.spoke(place.room, place.thread):
            return True
        first = await answers.of_message(place.main, place.thread)
        return first is not None and first.state in {"done", "blanked"} and not first.private

    async def exchange(self, place: Place) -> tuple[frozenset[str], datetime | None]:
        """Whom the bot answered in a thread before all, and when they last asked; also by what it began with."""
        answers = self._house.store.answers
        people, latest = await answers.askers(place.room, place.thread)
        first = await answers.of_message(place.main, place.thread)
        if first is not None and first.state in {"done", "blanked"} and not first.private:
            return people | {first.asker}, max(latest or first.time, first.time)
        return people, latest

    async def _homes(self, rooms: Iterable[str]) -> Mapping[str, str]:
        """The present spaces of rooms; those of which that cannot be known are left out."""
        found = {}
        for room in rooms:
            with suppress(PlatformError):
                found[room] = await self._house.readers.home(place_of(room))
        return found

    async def _messages(self, request: Request, scope: Scope) -> Sequence[Message]:
        """What people said in the thread before; one that only begins has at most what its first message replies to."""
        place = request.place
        if not place.thread or (place.thread == request.message and not replied(request)):
            return ()
        room = Scope(frozenset(), frozenset({place.room}))
        if not covers(scope, room, await self._homes(room.rooms - addressed(scope))):
            return ()
        try:
            async with asyncio.timeout(PATIENCE):
                found = (await self._house.platform(place).thread(place, MESSAGES)).messages
        except (EngineError, TimeoutError) as error:
            log.warning("thread_unknown", room=place.room, error=type(error).__name__)
            return ()
        before = [each for each in found if each.id != request.message and each.time <= request.time]
        return await self._tellable(place, [each for each in before if not each.by_bot])

    async def _tellable(self, place: Place, messages: Sequence[Message]) -> Sequence[Message]:
        """Those of some messages that nobody wanted forgotten, and whose authors are read of that time.

        The question of a redacted answer may repeat what was removed, and stays out too.
        """
        store, ids = self._house.store, [each.id for each in messages]
        gone = await store.messages.deleted(place.room, ids) | await store.answers.redacted(place.room, ids)
        left = [each for each in messages if each.id not in gone]
        out, whose = store.people.opted_out, (place.platform, place.workspace)
        return [each for each in left if not await out(*whose, each.author, each.time)]

    async def _told(self, messages: Sequence[Message]) -> list[tuple[datetime, Turn]]:
        return list(await asyncio.gather(*map(self._turn, messages)))

    async def _turn(self, message: Message) -> tuple[datetime, Turn]:
        place, text = message.place, message.text
        try:
            text = await self._house.platform(place).readable(place.workspace, text)
            person = await self._house.readers.person(place.platform, place.workspace, message.author)
        except PlatformError:
            return message.time, Turn("user", text)
        return message.time, Turn("user", f"{person.name}: {text}")


def replied(request: Request) -> str:
    """The message to which a question replies without being in its thread; empty if it does not."""
    return request.origin.replies_to if isinstance(request.origin, Message) else ""


def keys(message: Message) -> frozenset[str]:
    """What a message that an answer was told is known by: itself, and all that its author wrote."""
    place = message.place
    whose = author_key(place.platform, place.workspace, message.author)
    return frozenset({message_key(place.room, message.id), whose})


def merged(answers: Iterable[Stored], said: Iterable[tuple[datetime, Turn]]) -> tuple[Turn, ...]:
    """Questions with their answers, and what others said, in the order of time.

    Numbers in brackets are taken out of answers: in the next one they mean other passages.
    """
    turns: list[tuple[datetime, tuple[Turn, ...]]] = [(time, (turn,)) for time, turn in said]
    for each in answers:
        asked, told = Turn("user", spoken(each.question)), Turn("assistant", _MARK.sub("", each.text))
        turns.append((each.time, (asked, told)))
    return tuple(turn for _, group in sorted(turns, key=lambda each: each[0]) for turn in group)
