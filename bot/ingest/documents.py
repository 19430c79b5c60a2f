"""Messages on their way into documents and out of them: the engine and the store are told, and stay of one mind.

The store decides first, the engine follows, and the store notes that it did: whatever is cut off is repeated, and
ends in the same state.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, nullcontext, suppress
from itertools import groupby
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from bot.errors import Withheld
from bot.ingest.conversations import Run, digest, known, spoken
from bot.permissions.audience import home
from bot.store.models import message_key
from engine.errors import NotFound
from engine.models import Document, Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from bot.context import House
    from bot.ingest.conversations import Spoken
    from bot.platform.models import Message, Place
    from bot.store import Known
    from engine.models import Passage


class Shelf:
    """Where conversations are kept. Whoever changes something of a room holds it `alone`."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._engine = house.desk.engine
        self._store = house.store
        self._lanes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def alone(self, room: str) -> asyncio.Lock:
        """Held by whoever changes what is known of a room."""
        return self._lanes.setdefault(room, asyncio.Lock())

    async def calm(self) -> None:
        """Return once everybody who holds a room now has let it go."""
        for lane in list(self._lanes.values()):
            async with lane:
                pass

    async def written(self, message: Message) -> Spoken | None:
        """A message as its readers see it, with names as they are now; None if there is no text in it."""
        if not message.text.strip():
            return None
        platform, place = self._house.platform(message.place), message.place
        text = await platform.readable(place.workspace, message.text)
        link = platform.link(place, message.id)
        return spoken(message, await self._name(message), text, link, self._house.desk.count)

    async def put(self, run: Run, place: Place, *, opened: bool = False) -> None:
        """Make messages passages of their document; those that the engine has already are left alone."""
        said = [known(each, run.document) for each in run.spoken]
        await self._store.messages.note(said, run.thread, opened=opened)
        fresh = {each.id for each in await self._of(place.room, run) if not each.settled}
        if fresh:
            await self._uproot(run, place)
            await self._write(run, place, [each.passage for each in run.spoken if each.message.id in fresh], opened)
            await self._store.messages.settle(place.room, fresh)

    async def edit(self, said: Spoken, document: str) -> None:
        """A message has other words now; answers that used it are redacted."""
        place, title = said.message.place, said.title
        key = message_key(place.room, said.message.id)
        reworded = await self._reworded(said, document, key)
        async with self._redacting([key], document) if reworded else nullcontext():
            await self._write(Run(document, place.thread, title, (said,)), place, [said.passage], opened=False)
        await self._store.messages.edit(place.room, said.message.id, digest(said.message))
        await self._store.messages.settle(place.room, [said.message.id])

    async def drop(self, messages: Collection[Known]) -> None:
        """Take messages out of their documents; nothing is known of them any more."""
        by_document = sorted(messages, key=lambda each: (each.room, each.document))
        for (room, document), group in groupby(by_document, key=lambda each: (each.room, each.document)):
            ids = [each.id for each in group]
            async with self._redacting([message_key(room, each) for each in ids], document):
                if document:
                    await self._amend(document, drop=ids)
            await self._store.messages.drop(room, ids)

    async def forget(self, document: str) -> bool:
        """Forget a document, file or conversation; says whether there was one."""
        said = await self._store.messages.of_document(document)
        async with self._redacting([document, *(message_key(each.room, each.id) for each in said)], document):
            gone = await self._engine.forget(document)
        await self._store.windows.drop(document)
        await self._store.files.drop(document)
        return gone

    async def replace(self, document: Document) -> bool:
        """Take in a document that was known before; if it changed, the answers that used it are redacted."""
        keys, pending = [document.key], self._store.redactions
        cut_off = await pending.expected(document.key)
        await pending.expect(keys, document.key)
        changed = await self._engine.add(document)
        if changed or cut_off:
            await self._store.answers.blank(keys, document.key)
        else:
            await pending.cancel(keys, document.key)
        return changed

    @asynccontextmanager
    async def _redacting(self, keys: Collection[str], document: str) -> AsyncIterator[None]:
        """Redact the answers that used these once the engine has changed; a crash between them loses nothing."""
        await self._store.redactions.expect(keys, document)
        yield
        await self._store.answers.blank(keys, document)

    async def _reworded(self, said: Spoken, document: str, key: str) -> bool:
        """Whether answers may have used other words of a message; also if an earlier attempt was cut off."""
        if await self._store.redactions.expected(key) or not await self._store.answers.used(key):
            return True
        before = await self._passage(document, said.message.id, said.message.place)
        return before is None or before.text.split() != said.passage.text.split()

    async def close(self, document: str) -> None:
        """A conversation is over: it may be read as a whole now."""
        with suppress(NotFound):
            await self._engine.amend(document, open=False)
        await self._store.windows.close(document)

    async def _of(self, room: str, run: Run) -> list[Known]:
        """What is known of a run's messages, as far as they belong to its document."""
        found = await self._store.messages.several(room, [each.message.id for each in run.spoken])
        return [each for each in found if each.document == run.document]

    async def _write(self, run: Run, place: Place, passages: Sequence[Passage], opened: bool) -> None:  # noqa: FBT001 - as in Document
        try:
            await self._engine.amend(run.document, put=passages, open=True if opened else None)
        except NotFound:
            await self._engine.add(await self._document(run, place, passages, opened))

    async def _document(self, run: Run, place: Place, passages: Sequence[Passage], opened: bool) -> Document:  # noqa: FBT001 - as in Document
        channel = await self._house.readers.facts(place)
        return Document(
            key=run.document,
            space=home(channel),
            room=place.room,
            title=f"#{channel.name}: {run.title}",
            passages=tuple(passages),
            time=passages[0].time,
            link=passages[0].link,
            kind="conversation",
            open=opened,
        )

    async def _uproot(self, run: Run, place: Place) -> None:
        """Move the root of a thread, if it lies in a window still, to its thread."""
        root = await self._store.messages.get(place.room, run.thread) if run.thread else None
        if root is None or root.document in {"", run.document}:
            return
        passage = await self._passage(root.document, root.id, place)
        if passage:
            title = f"Thread by {passage.author}, {root.time:%Y-%m-%d}"
            await self._write(Run(run.document, run.thread, title, run.spoken), place, [passage], opened=False)
            await self._amend(root.document, drop=[root.id])
        await self._store.messages.move(place.room, root.id, run.document)

    async def _passage(self, document: str, message: str, place: Place) -> Passage | None:
        try:
            found = await self._engine.document(document, Scope(frozenset(), frozenset({place.room})))
        except NotFound:
            return None
        return next((each for each in found.passages if each.key == message), None)

    async def _amend(self, document: str, drop: Collection[str]) -> None:
        with suppress(NotFound):
            await self._engine.amend(document, drop=drop)

    async def _name(self, message: Message) -> str:
        """Who wrote it; somebody whom the platform does not show bears their id."""
        place = message.place
        try:
            return (await self._house.readers.person(place.platform, place.workspace, message.author)).name
        except Withheld:
            return message.author
