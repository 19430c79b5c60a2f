"""One message and what becomes of it: heard, edited, deleted, its files taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.answers.sources.attribution import shares, words
from bot.ingest.conversations import WORDLESS, Run, digest, joined, thread_key, unread
from bot.store.models import message_key
from engine.parsers.chat_export import GAP

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.context import House
    from bot.ingest.channels import Presence
    from bot.ingest.conversations import Spoken
    from bot.ingest.documents import Shelf
    from bot.platform.models import Message, Place, Upload
    from bot.store import Known


class Hearing:
    """What messages say becomes known, or ceases to be. The caller holds the room."""

    def __init__(self, house: House, shelf: Shelf, presence: Presence) -> None:
        self._house = house
        self._shelf = shelf
        self._presence = presence
        self._store = house.store

    async def hear(self, message: Message, *, addressed: bool, wished: bool = False) -> None:
        """A new message. What is said to the bot is known to have been said, but not indexed.

        `wished`: its author wants it to be known, even if nothing of that time is read of them.
        """
        room = message.place.room
        known = await self._store.messages.get(room, message.id)
        if addressed:
            await self._set_aside(message, known)
        elif not (known and known.settled) and await self.admits(message, wished=wished):
            await self._take_in(message, known)

    async def hear_after_all(self, message: Message) -> None:
        """A message that was set aside as a question to the bot, and is none."""
        await self._store.messages.drop(message.place.room, [message.id])
        await self.hear(message, addressed=False)

    async def edit(self, message: Message) -> Message:
        """A message as it is now, whether anything changed or not; gives it with those files that are not known."""
        room = message.place.room
        further = () if message.own else await self.compare_files(message)
        if message.own or await self._store.messages.deleted(room, [message.id]):
            return replace(message, uploads=())
        known = await self._store.messages.get(room, message.id)
        if known is None or (not known.document and known.digest == WORDLESS):
            await self._store.messages.drop(room, [message.id])
            await self._hear_late(message)
        elif known.document and not (known.settled and known.digest == digest(message)):
            said = None if message.addressed else await self._shelf.written(message)
            await (self._shelf.edit(said, known.document) if said else self._shelf.drop([known]))
        elif not known.document and known.digest != digest(message):
            await self._edit_unread(message)
        return replace(message, uploads=further)

    async def _edit_unread(self, message: Message) -> None:
        """A message that is no passage, such as a question, has other words: answers that were told it lose the old."""
        room = message.place.room
        await self._store.answers.blank([message_key(room, message.id)])
        await self._edit_question(message)
        await self._store.messages.edit(room, message.id, digest(message))

    async def _edit_question(self, message: Message) -> None:
        """Keep the question as it reads now; redact its answer if that repeats words which only the question had."""
        answer = await self._store.answers.of_message(message.place.main, message.id)
        if answer is None or answer.message != message.id:
            return
        shown = " ".join(f"{each.title} {each.words}" for each in answer.sources)
        if shares(words(answer.question) - words(message.text) - words(shown), answer.text):
            await self._store.answers.retract(answer.id)
        await self._store.answers.reword(answer.id, message.text)

    async def delete(self, place: Place, ids: Collection[str], *, wanted: bool = False) -> None:
        """Messages are gone, with their files; they stay so even if they are told of later.

        `wanted`: somebody wanted them forgotten, and they may still be there on the platform.
        """
        await self._store.messages.note_deleted(place.room, ids, wanted=wanted)
        await self.remove(place, ids)

    async def remove(self, place: Place, ids: Collection[str]) -> None:
        """Messages with their files are not there any more; they are taken in again if they are shown again."""
        room = place.room
        await self._store.answers.blank([message_key(room, each) for each in ids])
        await self._shelf.drop(await self._store.messages.several(room, ids))
        for file in await self._store.files.of_messages(room, ids):
            await self._shelf.forget(file.document)
        await self._store.answers.drop_questions(room, ids)

    async def unshare(self, place: Place, uploads: Collection[str]) -> None:
        """Files were taken back, in one channel or everywhere."""
        whole = f"{place.platform}:{place.workspace}:"
        await self._store.messages.note_deleted(place.room if place.channel else whole, uploads)
        for file in await self._store.files.of_uploads(whole, uploads):
            if not place.channel or file.room == place.room:
                await self._shelf.forget(file.document)

    async def admits(self, message: Message, *, wished: bool = False) -> bool:
        """Whether a message may be indexed at all."""
        place = message.place
        if message.own or message.addressed or (message.by_bot and not self._house.settings.index_bots):
            return False
        written = None if wished else message.time
        if await self._store.people.opted_out(place.platform, place.workspace, message.author, written):
            return False
        if await self._store.messages.deleted(place.room, [message.id]):
            return False
        return await self._presence.here(place)

    async def _set_aside(self, message: Message, known: Known | None) -> None:
        if known and known.document:
            await self._shelf.drop([known])
        await self._store.messages.note([unread(message)])

    async def _hear_late(self, message: Message) -> None:
        """An edit came before its message, or is of one from before the bot's time."""
        horizon = await self._store.rooms.horizon(message.place.room)
        if (horizon is None or message.time >= horizon) and await self.admits(message):
            await self._take_in(message, None)

    async def _take_in(self, message: Message, known: Known | None) -> None:
        said = await self._shelf.written(message)
        if said is None:
            await self._store.messages.note([unread(message)] if message.uploads else [])
            return
        document = known.document if known else await self._document(said)
        run = Run(document, message.place.thread, said.title, (said,))
        await self._shelf.put(run, message.place, opened=True)

    async def _document(self, said: Spoken) -> str:
        message = said.message
        room, root = message.place.room, message.place.thread
        if root or await self._store.messages.roots(room, [message.id]):
            return thread_key(room, root or message.id)
        return joined(said, await self._store.windows.near(room, message.time - GAP, message.time + GAP))

    async def compare_files(self, message: Message) -> tuple[Upload, ...]:
        """Files that a message has no more are forgotten; gives those which are not known."""
        room, now = message.place.room, {each.id for each in message.uploads}
        before = await self._store.files.of_messages(room, [message.id])
        for file in before:
            if file.upload not in now:
                await self._store.messages.note_deleted(room, [file.upload])
                await self._shelf.forget(file.document)
        return tuple(each for each in message.uploads if each.id not in {file.upload for file in before})
