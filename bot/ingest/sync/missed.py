"""Queue what was said to the bot while it was away, as if it came now."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.ingest.messages import is_for_bot
from bot.platform.events import MessageReceived, encode_event, message_event_key
from bot.platform.models import Location
from bot.store.event_queue import TOPIC, NewEvent
from bot.text.format import EPOCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.context import BotContext
    from bot.platform.models import Message

log = structlog.get_logger(__name__)

MISSED_PERIOD = timedelta(days=1)  # what is older is not looked at
DIRECT_PERIOD = timedelta(days=30)  # since the last direct message that the bot received
MAX_DIRECT = 200  # direct messages of a platform, the latest


class MissedMessages:
    """Finds messages to the bot that it never received, in the histories of channels and of direct messages."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store

    async def enqueue(self, messages: Sequence[Message]) -> None:
        """Queue the questions among messages of a channel that are recent and were never received.

        Call it before the messages are stored. It may be called again.
        """
        since = self._context.clock.now() - MISSED_PERIOD
        asked = [message for message in messages if is_for_bot(message) and message.time >= since]
        await self._enqueue_unknown([message for message in asked if not (message.own or message.by_bot)])

    async def check_direct(self, platform: str) -> None:
        """Queue what people wrote in their direct messages with the bot. What cannot be read is left out."""
        since = self._context.clock.now() - DIRECT_PERIOD
        for room in await self._store.messages.list_unread_rooms(platform, since, MAX_DIRECT):
            location = Location.from_room(room)
            try:
                if (await self._context.audience.get_channel_info(location)).kind == "direct":
                    await self._check_direct(location)
            except PlatformError as error:
                log.warning("sync.direct_messages_unread", channel=room, error=type(error).__name__)

    async def _check_direct(self, location: Location) -> None:
        since = self._context.clock.now() - MISSED_PERIOD
        async for page in self._context.platform_for(location).history(location, since):
            await self._enqueue_unknown([message for message in page if not (message.own or message.by_bot)])

    async def _enqueue_unknown(self, messages: Sequence[Message]) -> None:
        if not messages:
            return
        room = messages[0].location.room
        known = {
            message.id for message in await self._store.messages.list_by_ids(room, [message.id for message in messages])
        }
        gone = await self._store.messages.find_tombstones(room, [message.id for message in messages])
        location, authors = messages[0].location, {message.author for message in messages}
        ends = await self._store.opt_outs.find_ends(location.platform, location.workspace, authors)
        for message in sorted(messages, key=lambda each: (each.time, each.id)):
            until = ends.get(message.author, EPOCH)
            if message.id not in known | gone and until is not None and message.time >= until:
                await self._enqueue(message)

    async def _enqueue(self, message: Message) -> None:
        event = MessageReceived(message, addressed=True)
        kind, payload = encode_event(event)
        new = NewEvent(kind, payload, message.location.workspace_key, message.location.room)
        if await self._store.event_queue.enqueue(new, [message_event_key(message)], self._context.clock.time()):
            log.info("sync.missed_message", channel=message.location.room)
            self._context.engine_context.engine.processes.notify(TOPIC)
