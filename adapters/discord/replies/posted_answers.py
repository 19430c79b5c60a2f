"""Replace or delete finished answers, including a thread created for one.

A public answer to a command is also a message of the channel, and is edited as one after its token has expired.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import discord
import structlog

from adapters.discord.calls import ThreadArchived, TokenExpired, UnknownResource, call_with_retries
from adapters.discord.replies.channel_messages import MessageContent, build_edit_params
from adapters.discord.replies.interaction_responses import ORIGINAL_PART, InteractionSink, PendingAcks
from adapters.discord.replies.refs import InteractionHandle, ReplyRef
from adapters.discord.replies.render import render_markdown
from bot.errors import PermissionDenied, PlatformError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.platform.ports import ReplyTarget
    from engine import Clock

T = TypeVar("T")

log = structlog.get_logger(__name__)

STARTER_MESSAGE = discord.MessageType.thread_starter_message


class DiscordPostedAnswers:
    """Edits the messages that a reply reference names."""

    def __init__(self, client: discord.Client, pending_acks: PendingAcks, clock: Clock) -> None:
        self._client = client
        self._http = client.http
        self._pending_acks = pending_acks
        self._clock = clock

    async def replace(self, target: ReplyTarget, text: str) -> None:
        """Show `text` in the first message that still exists, and delete the others. Raises PlatformError.

        An ephemeral answer stays as it is after its token has expired.
        """
        ref, is_shown = ReplyRef.parse(target.reply_ref), False
        if handle := InteractionHandle.parse(ref.handle):
            with suppress(TokenExpired):
                await self._replace_private(handle, ref.messages, MessageContent(render_markdown(text)))
            return
        for message in ref.messages:
            if is_shown:
                await self._delete(ref.channel, message)
            else:
                is_shown = await self._rewrite(ref.channel, message, MessageContent(render_markdown(text)))

    async def _replace_private(
        self, handle: InteractionHandle, messages: Sequence[str], outgoing: MessageContent
    ) -> None:
        sink = InteractionSink(self._client, handle, self._pending_acks, self._clock)
        first, *others = messages
        await sink.write_part(ORIGINAL_PART, first, outgoing)
        for message in others:
            await sink.delete_part(message)

    async def delete(self, target: ReplyTarget) -> None:
        """Delete all messages. Raises PlatformError."""
        ref = ReplyRef.parse(target.reply_ref)
        for message in ref.messages:
            await self._delete(ref.channel, message)
        if ref.channel and ref.channel == target.message:  # a thread created from the question
            await self._delete_if_empty(int(ref.channel))

    async def _rewrite(self, channel: str, message: str, outgoing: MessageContent) -> bool:
        """Edit a message; False if it was deleted."""

        def edit() -> Awaitable[object]:
            return self._http.edit_message(int(channel), int(message), params=build_edit_params(outgoing))

        try:
            await self._call_unarchived(channel, lambda: call_with_retries("to change its message", edit))
        except UnknownResource:
            return False
        return True

    async def _delete(self, channel: str, message: str) -> None:
        def delete() -> Awaitable[object]:
            return self._http.delete_message(int(channel), int(message))

        with suppress(UnknownResource):
            await self._call_unarchived(channel, lambda: call_with_retries("to delete its message", delete))

    async def _call_unarchived(self, channel: str, call: Callable[[], Awaitable[T]]) -> T:
        """Call; unarchives an archived thread for the call, and archives it again."""
        try:
            return await call()
        except ThreadArchived:
            await call_with_retries(
                "to unarchive a thread", lambda: self._http.edit_channel(int(channel), archived=False)
            )
        try:
            return await call()
        finally:
            await self._archive(channel)

    async def _archive(self, channel: str) -> None:
        try:
            await call_with_retries("to archive a thread", lambda: self._http.edit_channel(int(channel), archived=True))
        except PlatformError as error:
            log.info("discord.thread_archive_failed", error=str(error))

    async def _delete_if_empty(self, thread: int) -> None:
        """Delete a thread that the bot created and nobody posted in; archive it if deleting is not allowed."""
        try:
            if not await self._is_ours_and_empty(thread):
                return
            await call_with_retries("to delete an empty thread", lambda: self._http.delete_channel(thread))
        except UnknownResource:
            return
        except PermissionDenied:
            await self._archive(str(thread))

    async def _is_ours_and_empty(self, thread: int) -> bool:
        found = await call_with_retries("to fetch a thread", lambda: self._client.fetch_channel(thread))
        if not isinstance(found, discord.Thread) or self._client.user is None or found.owner_id != self._client.user.id:
            return False

        async def fetch() -> list[discord.Message]:
            return [message async for message in found.history(limit=2)]

        return all(message.type is STARTER_MESSAGE for message in await call_with_retries("to read a thread", fetch))
