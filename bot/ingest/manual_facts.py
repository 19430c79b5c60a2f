"""Facts that people add by hand, as if they had posted them; only in channels that are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot import texts
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.permissions.managers import may_post
from bot.store import FileRecord
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.platform.models import Location
    from engine import Extraction


@dataclass(frozen=True, slots=True)
class Poster:
    """Who adds a fact. `may_post`: whether their platform lets them post there; None if it did not say."""

    person: str
    may_post: bool | None = None


class ManualFacts:
    """Adds facts. Callers do not hold the lock of the room."""

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents

    async def add_fact(self, location: Location, poster: Poster, facts: Extraction, time: datetime) -> str:
        """Add a fact to the space of its channel; returns its document's key.

        Raises NotAllowed for a person who may not post there, InvalidQuestion if nothing can be added there.
        """
        person = poster.person
        async with self._documents.lock(location.room):
            await self._check_may_post(location, poster)
            await self._check_allowed(location, person)
            space = await self._context.audience.get_home_space(location)
            key = await self._context.engine_context.engine.corrections.add_facts(
                space, location.room, facts, time=time
            )
            await self._context.store.files.insert(FileRecord(key, location.room, "", "", person, time))
        return key

    async def _check_may_post(self, location: Location, poster: Poster) -> None:
        if not await may_post(self._context.audience, location, poster.person, said=poster.may_post):
            raise NotAllowed(gettext(texts.CANNOT_WRITE), hint=gettext(texts.JOIN_HINT))

    async def _check_allowed(self, location: Location, person: str) -> None:
        store = self._context.store
        if not (await self._context.get_channel_settings(location.room)).ingest:
            raise InvalidQuestion(gettext("Reading is turned off in this channel, so nothing can be added to it."))
        direct = (await self._context.audience.get_channel(location)).kind == "direct"
        if not (direct or await store.channels.is_announced(location.room)):
            raise InvalidQuestion(gettext(texts.CHANNEL_NOT_INDEXED), hint=gettext(texts.INVITE_HINT))
        if notice := await self._context.find_opt_out(location, person):
            raise InvalidQuestion(notice)
