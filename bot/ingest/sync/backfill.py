"""What was said before the bot listened: back-fill on joining, and catching up after it was away.

A back-fill goes from the newest messages to the oldest, page by page, and notes how far it came; a page is taken in
up to the last silence, so that repeating it after a crash gives the same documents.
"""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING

import structlog

from bot.errors import Withheld
from bot.ingest.conversations import Run, edge, parted, runs, unread
from bot.ingest.shared_file import Shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.context import House
    from bot.ingest.conversations import Spoken
    from bot.ingest.documents import Shelf
    from bot.ingest.files import Filing
    from bot.ingest.messages import Hearing
    from bot.platform.models import Message, Place
    from bot.store.channels import Cursor

log = structlog.get_logger(__name__)

HELD = 2000  # messages without a silence, beyond which they are cut anyway
FIRST, LONGEST = 5.0, 900.0  # seconds until the next try; they double


class Past:
    """Takes in what was said in channels before."""

    def __init__(self, house: House, shelf: Shelf, hearing: Hearing, filing: Filing) -> None:
        self._house = house
        self._shelf = shelf
        self._hearing = hearing
        self._filing = filing
        self._store = house.store

    async def fill(self, now: float | None = None) -> bool:
        """Go on with one back-fill that is due (seconds since 1970), to its end; False if there is none."""
        cursor = await self._store.cursors.due(time.time() if now is None else now)
        if cursor is None:
            return False
        room = cursor.place.room
        try:
            if not (await self._store.channels.get(room)).ingest:
                await self._store.cursors.end(room)
            elif await self._filled(cursor):
                await self._store.cursors.finish(cursor)
        except Withheld:
            log.warning("backfill_withheld", room=room)
            await self._store.cursors.end(room)
        except Exception as error:  # noqa: BLE001 - one channel that cannot be read must not keep the others waiting
            delay = min(LONGEST, FIRST * 2**cursor.tries)
            log.warning("backfill_delayed", room=room, error=type(error).__name__, seconds=delay)
            await self._store.cursors.delay(room, time.time() + delay)
        return True

    async def _filled(self, cursor: Cursor) -> bool:
        """Take everything in; False if the back-fill was ended or began anew meanwhile."""
        held: list[Message] = []
        platform = self._house.platform(cursor.place)
        async for page in platform.history(cursor.place, cursor.since, cursor.before):
            whole, held = parted([*held, *page])
            if len(held) > HELD:
                whole, held = [*held, *whole], []
            await self.take(cursor.place, whole)
            if not await self._store.cursors.advance(cursor, edge(whole, held)):
                return False
        await self.take(cursor.place, held)
        return True

    async def take(self, place: Place, messages: Sequence[Message]) -> None:
        """Take in what is not known yet of some messages of a channel, and their files."""
        await self.read(place, messages)
        for message in messages:
            if message.uploads:
                await self.fetch(message)

    async def read(self, place: Place, messages: Sequence[Message]) -> None:
        """Take in what is not known yet of some messages of a channel; their files are owed from now on."""
        fresh = await self._unknown(place, messages)
        said = [found for each in fresh if (found := await self._shelf.written(each))]
        wordless = {each.id for each in fresh} - {each.message.id for each in said}
        async with self._shelf.alone(place.room):
            unknown = await self._unknown(place, messages)
            for each in unknown:
                await self._owe(each)
            ids = {each.id for each in unknown}
            for run in await self._runs(place, [each for each in said if each.message.id in ids]):
                await self._shelf.put(run, place)
            silent = [each for each in messages if each.addressed or (each.uploads and each.id in wordless)]
            await self._store.messages.note([unread(each) for each in silent])

    async def correct(self, message: Message, told: str) -> None:
        """A message has other words than those of this digest, unless something newer was heard of it meanwhile."""
        room = message.place.room
        async with self._shelf.alone(room):
            known = await self._store.messages.get(room, message.id)
            if known is not None and known.digest == told:
                await self._hearing.edit(message)

    async def _owe(self, message: Message) -> None:
        """The files of a message are to be taken in, even if that is cut off once it is known."""
        for each in message.uploads:
            await self._store.files.note(Shared(message).filed(each))

    async def fetch(self, message: Message) -> None:
        """Take in the files of a message of the past; what cannot be read of them is nobody's business now."""
        room = message.place.room
        known = await self._store.files.of_messages(room, [message.id])
        missing = {each.id for each in message.uploads} - {each.upload for each in known if each.settled}
        if missing and await self._hearing.admits(message):
            await self._filing.take(message, quiet=True)
        async with self._shelf.alone(room):
            for file in await self._store.files.of_messages(room, [message.id]):
                if not file.settled:
                    await self._shelf.forget(file.document)

    async def _unknown(self, place: Place, messages: Sequence[Message]) -> list[Message]:
        known = await self._store.messages.several(place.room, [each.id for each in messages])
        settled = {each.id for each in known if each.settled}
        return [each for each in messages if each.id not in settled and await self._hearing.admits(each)]

    async def _runs(self, place: Place, said: Sequence[Spoken]) -> list[Run]:
        """Documents of messages; those that were decided already, before a crash, stay as they were decided."""
        known = await self._store.messages.several(place.room, [each.message.id for each in said])
        decided = {each.id: each.document for each in known}
        roots = await self._store.messages.roots(place.room, [each.message.id for each in said])
        fresh = runs([each for each in said if each.message.id not in decided], place.room, roots)
        rest = sorted(
            (each for each in said if decided.get(each.message.id)), key=lambda each: decided[each.message.id]
        )
        for document, group in groupby(rest, key=lambda each: decided[each.message.id]):
            spoken = tuple(group)
            fresh.append(Run(document, spoken[0].message.place.thread, spoken[0].title, spoken))
        return fresh
