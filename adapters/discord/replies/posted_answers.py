"""Finished answers that stand in a channel: replaced by a line, or deleted with a thread that was opened for them.

The answer to a command is a message of the channel too, and is changed as one once its token is of no use.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import discord
import structlog

from adapters.discord.api.calls import Archived, Missing, Over, patiently
from adapters.discord.replies.channel_messages import Sheet, changed
from adapters.discord.replies.interaction_responses import ORIGINAL, Acknowledged, ByToken
from adapters.discord.replies.refs import Handle, Mark
from adapters.discord.replies.render import rendered
from bot.errors import PlatformError, Withheld

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.platform.ports import Target

T = TypeVar("T")

log = structlog.get_logger(__name__)

STARTER = discord.MessageType.thread_starter_message


class PostedAnswers:
    """The messages that the mark of an answer names."""

    def __init__(self, client: discord.Client, acknowledged: Acknowledged) -> None:
        self._client = client
        self._http = client.http
        self._acknowledged = acknowledged

    async def replace(self, target: Target, text: str) -> None:
        """Show this in the first message that is still there, and delete the others. Raises PlatformError.

        What one person alone sees stays as it is once the token of its command is of no use.
        """
        mark, shown = Mark.of(target.mark), False
        if handle := Handle.of(mark.handle):
            with suppress(Over):
                await self._replace_private(handle, mark.messages, Sheet(rendered(text)))
            return
        for message in mark.messages:
            if shown:
                await self._delete(mark.channel, message)
            else:
                shown = await self._rewrite(mark.channel, message, Sheet(rendered(text)))

    async def _replace_private(self, handle: Handle, messages: Sequence[str], sheet: Sheet) -> None:
        way = ByToken(self._client, handle, self._acknowledged)
        first, *others = messages
        await way.put(ORIGINAL, first, sheet)
        for message in others:
            await way.take(message)

    async def delete(self, target: Target) -> None:
        """Delete all messages. Raises PlatformError."""
        mark = Mark.of(target.mark)
        for message in mark.messages:
            await self._delete(mark.channel, message)
        if mark.channel and mark.channel == target.message:  # a thread that began with the question
            await self._delete_if_empty(int(mark.channel))

    async def _rewrite(self, channel: str, message: str, sheet: Sheet) -> bool:
        """Whether the message shows it now; else it was deleted."""

        def edit() -> Awaitable[object]:
            return self._http.edit_message(int(channel), int(message), params=changed(sheet))

        try:
            await self._awake(channel, lambda: patiently("to change its message", edit))
        except Missing:
            return False
        return True

    async def _delete(self, channel: str, message: str) -> None:
        def delete() -> Awaitable[object]:
            return self._http.delete_message(int(channel), int(message))

        with suppress(Missing):
            await self._awake(channel, lambda: patiently("to delete its message", delete))

    async def _awake(self, channel: str, call: Callable[[], Awaitable[T]]) -> T:
        """What a call gives; an archived thread, in which nothing can be changed, is opened for it."""
        try:
            return await call()
        except Archived:
            await patiently("to open a thread again", lambda: self._http.edit_channel(int(channel), archived=False))
        try:
            return await call()
        finally:
            await self._archive(channel)

    async def _archive(self, channel: str) -> None:
        try:
            await patiently("to archive a thread", lambda: self._http.edit_channel(int(channel), archived=True))
        except PlatformError as error:
            log.info("thread_stays_open", error=str(error))

    async def _delete_if_empty(self, thread: int) -> None:
        """Delete a thread of ours in which nothing was said; it is archived where that is not allowed."""
        try:
            if not await self._is_ours_and_empty(thread):
                return
            await patiently("to delete an empty thread", lambda: self._http.delete_channel(thread))
        except Missing:
            return
        except Withheld:
            await self._archive(str(thread))

    async def _is_ours_and_empty(self, thread: int) -> bool:
        found = await patiently("to look at a thread", lambda: self._client.fetch_channel(thread))
        if not isinstance(found, discord.Thread) or self._client.user is None or found.owner_id != self._client.user.id:
            return False

        async def said() -> list[discord.Message]:
            return [each async for each in found.history(limit=2)]

        return all(each.type is STARTER for each in await patiently("to read a thread", said))
