"""Files that people share become documents: fetched, read in a sandbox, added, and confirmed by a reaction.

A file shared in two rooms is two documents. What is given to the bot alone goes into the person's own space.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.admin.ingest.files import credible
from bot.errors import PlatformError, Withheld
from bot.ingest.shared_file import Shared
from bot.permissions.audience import home, own
from bot.platform.events import Asked, Called
from bot.platform.models import Card, Message, Place
from bot.platform.ports import Target
from bot.store import Filed
from engine.errors import BadInput, NotFound, TooLarge, Unsupported
from engine.models import Document, Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bot.context import House
    from bot.ingest.documents import Shelf
    from bot.platform.models import Upload
    from bot.platform.ports import Sign
    from engine.parsers import Reader
    from engine.storage.ledger.queries.stats import Stage

log = structlog.get_logger(__name__)

AT_ONCE = 4  # files in memory
LOOK = 0.1  # seconds between two looks at how far a document has come
CONFIRM = 600.0  # seconds after which a file is not waited for any more; its reaction stays then
UNREADABLE = {"image": "a picture", "audio": "sound", "video": "film", "font": "a font"}


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that did not become a document, and the sentence why."""

    name: str
    reason: str


Outcome = Filed | Refused


class Filing:
    """Takes files in. `reader` reads them in processes of their own. Nobody who calls it holds the room."""

    def __init__(self, house: House, shelf: Shelf, reader: Reader) -> None:
        self._house = house
        self._shelf = shelf
        self._reader = reader
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def file(self, message: Message) -> list[Outcome]:
        """Take the files of a message in and confirm that, or say why not."""
        outcomes = await self.take(message)
        await self.confirm(message, outcomes)
        return outcomes

    async def take(
        self, message: Message, *, asked: bool = False, quiet: bool = False, wished: bool = False
    ) -> list[Outcome]:
        """Make the files of a message documents; durable when it returns, searchable a little later.

        `asked`: they came with a question, and are read even where the channel is not. `quiet`: without reactions.
        `wished`: whoever shared them wants it, even if nothing of that time is read of them.
        Raises PlatformError for what may pass by itself.
        """
        if not message.uploads or message.own or (message.by_bot and not self._house.settings.index_bots):
            return []
        told = await self._house.store.rooms.announced(message.place.room)
        link = self._house.platform(message.place).link(message.place, message.id)
        shared = Shared(message, link, asked=asked, wished=wished, told=told)
        if await self._hindrance(shared):
            return []
        if not quiet:
            await self._sign(message, "working")
        return [await self._taken(shared, upload) for upload in message.uploads]

    async def learn(self, given: Asked | Called, time: datetime) -> list[Outcome]:
        """The same for files that came with a command; those of a private question go into the asker's own space."""
        place, person = given.place, given.person
        message = Message(given.id, place, person, "", time, given.uploads)
        space = own(place.platform, place.workspace, person) if isinstance(given, Asked) and given.private else ""
        told = not space and await self._house.store.rooms.announced(place.room)
        shared = Shared(message, space=space, asked=True, wished=True, told=told)
        reason = await self._hindrance(shared) or ("" if space or given.may_write else texts.NO_WRITER)
        if reason:
            return [Refused(each.name, reason) for each in given.uploads]
        return [await self._taken(shared, upload) for upload in given.uploads]

    async def confirm(self, message: Message, outcomes: Sequence[Outcome]) -> None:
        """Sign a message when its files can be found, or say below it why not."""
        if not outcomes:
            return
        filed = [each for each in outcomes if isinstance(each, Filed)]
        if not await self.wait([each.document for each in filed], CONFIRM):
            log.warning("file_unconfirmed", room=message.place.room)
            return
        names = {each.id: each.name for each in message.uploads}
        refused = [each for each in outcomes if isinstance(each, Refused)]
        refused += [
            Refused(names.get(each.upload, each.upload), reason)
            for each in filed
            if (reason := await self._broken(each))
        ]
        await self._sign(message, "failed" if refused else "done")
        if refused:
            await self._explain(message, refused)

    async def give_up(self, message: Message, error: Exception) -> None:
        """The files of a message could not be had, however often it was tried."""
        await self._sign(message, "failed")
        reason = texts.failure(error)
        await self._explain(message, [Refused(each.name, reason) for each in message.uploads])

    async def wait(self, documents: Iterable[str], seconds: float) -> bool:
        """Wait until a question finds these documents, or they failed; False if time ran out first."""
        try:
            async with asyncio.timeout(seconds):
                for document in documents:
                    while await self._pending(document):  # noqa: ASYNC110 - the engine sends no news of a document
                        await asyncio.sleep(LOOK)
        except TimeoutError:
            return False
        return True

    async def _hindrance(self, shared: Shared) -> str:
        """Why files are left out, empty if they are not: asked before they are fetched, and when they were read."""
        message, place, store = shared.message, shared.message.place, self._house.store
        written = None if shared.wished else message.time
        if await store.people.opted_out(place.platform, place.workspace, message.author, written):
            return texts.opted_out(place.platform)
        announced = await store.rooms.announced(place.room)
        if shared.told and not announced:
            return texts.UNREAD  # the bot was put out meanwhile
        if shared.asked or (await self._house.readers.channel(place)).kind == "direct":
            return ""
        return "" if announced and (await store.channels.get(place.room)).ingest else texts.UNREAD

    async def _taken(self, shared: Shared, upload: Upload) -> Outcome:
        filed = shared.filed(upload)
        try:
            async with self._gate:
                document = await self._read(shared, upload)
            reason = await self._add(filed, document, shared)
        except (BadInput, Withheld) as error:
            log.info("file_refused", room=filed.room, kind=upload.kind, size=upload.size, error=type(error).__name__)
            reason = texts.failure(error)
        return Refused(upload.name, reason) if reason else filed

    async def _read(self, shared: Shared, upload: Upload) -> Document:
        limit, message, filed = self._house.desk.limits.size, shared.message, shared.filed(upload)
        _check(upload, limit)
        data = await self._house.platform(message.place).fetch(upload, limit)
        read = await self._reader.read(upload.name, data)
        time = credible(read.time, message.time) or message.time
        return Document(filed.document, shared.space, filed.room, upload.name, read.passages, time, shared.link)

    async def _add(self, filed: Filed, document: Document, shared: Shared) -> str:
        """Add a file to the engine, where its readers can find it now; or say why it is left out after all.

        One that was deleted meanwhile is left out without a word.
        """
        place = shared.message.place
        async with self._shelf.alone(filed.room):
            if await self._gone(filed, place):
                return ""
            if reason := await self._hindrance(shared):
                return reason
            space = document.space or await self._home(place)
            await self._house.store.files.note(filed)
            await self._house.desk.engine.add(replace(document, space=space))
            await self._house.store.files.settle(filed.document)
        if await self._gone(filed, place):  # taken back everywhere, which waits for no room
            await self._shelf.forget(filed.document)
        return ""

    async def _home(self, place: Place) -> str:
        """The space that a channel's files live in; one that is not read otherwise is watched for its readers too."""
        channel = await self._house.readers.channel(place)
        if channel.kind != "direct":
            await self._house.store.rooms.note(place.main, channel.name)
        return home(channel)

    async def _gone(self, filed: Filed, place: Place) -> bool:
        """Whether the file, or its message, was deleted before it was taken in."""
        deleted = self._house.store.messages.deleted
        everywhere = await deleted(f"{place.platform}:{place.workspace}:", [filed.upload], filed.time)
        if everywhere or await deleted(place.room, [filed.upload], filed.time):
            return True  # what was shared again later was not
        return bool(await deleted(filed.room, [filed.message, filed.document]))

    async def _pending(self, document: str) -> bool:
        stage = await self._stage(document)
        return stage is not None and stage.status == "pending"

    async def _broken(self, filed: Filed) -> str:
        """Why a document that was accepted cannot be found, if so; what the model said is for its operator."""
        stage = await self._stage(filed.document)
        if stage is None or stage.status != "failed":
            return ""
        log.warning("file_refused_by_model", room=filed.room, error=stage.error, hint=stage.hint)
        return texts.UNTAKEN

    async def _stage(self, document: str) -> Stage | None:
        """How far it has come; None if it was deleted meanwhile."""
        room = document.partition(":file:")[0]
        try:
            return await self._house.desk.engine.stage(document, Scope(frozenset(), frozenset({room})))
        except NotFound:
            return None

    async def _sign(self, message: Message, sign: Sign) -> None:
        try:
            await self._house.platform(message.place).sign(message.place, message.id, sign)
        except PlatformError as error:
            log.warning("not_signed", room=message.place.room, error=type(error).__name__)

    async def _explain(self, message: Message, refused: Iterable[Refused]) -> None:
        text = "\n".join(texts.refused_file(each.name, each.reason) for each in refused)
        target = Target("", message.place, message.author, message.id)
        try:
            await self._house.platform(message.place).whisper(target, Card(text))
        except PlatformError as error:
            log.warning("not_explained", room=message.place.room, error=type(error).__name__)


def _check(upload: Upload, limit: int) -> None:
    """Refuse what need not be fetched. Raises TooLarge and Unsupported."""
    family = UNREADABLE.get(upload.kind.partition("/")[0])
    if family:
        raise Unsupported(f"It is {family}.")
    if upload.size > limit:
        raise TooLarge(f"It has {upload.size / 2**20:.0f} MiB; {limit / 2**20:.0f} are allowed.")
