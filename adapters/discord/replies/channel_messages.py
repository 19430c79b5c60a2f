"""Messages of the bot in a channel: a message that is sent twice is there once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import discord
from discord.http import MultipartParameters, handle_message_parameters

from adapters.discord.api.calls import UnknownResource, call_with_retries
from adapters.discord.replies.buttons import build_view
from adapters.discord.replies.refs import build_nonce
from adapters.discord.replies.render import build_thread_title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discord.http import HTTPClient

    from bot.platform.models import Button, Picture

PostedIds: TypeAlias = tuple[str, str]  # the ids of a channel and of a message in it

NO_MENTIONS = discord.AllowedMentions.none()
NO_EMBEDS = discord.MessageFlags(suppress_embeds=True)  # no address is fetched for a preview
EPHEMERAL = discord.MessageFlags(suppress_embeds=True, ephemeral=True)


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """What one message shows, as Discord renders it."""

    content: str
    buttons: tuple[Button, ...] = ()
    picture: Picture | None = None


class MessageSink(Protocol):
    """How the messages of a reply get to its readers."""

    @property
    def handle(self) -> str:
        """What alone can change these messages (Mark.handle); empty if they are in a channel."""

    async def write_part(self, part: int, message: str, outgoing: OutgoingMessage) -> PostedIds:
        """Send a part, or if it was sent before as this message, change it."""

    async def delete_part(self, message: str) -> None:
        """Delete a part."""


class ChannelSink:
    """Messages that everyone there sees. `reference`: the message that they answer; `answer`: what they belong to."""

    handle = ""

    def __init__(self, http: HTTPClient, channel: str, answer: str, reference: str = "") -> None:
        self._http = http
        self.channel = channel
        self._answer = answer
        self._reference = reference

    async def write_part(self, part: int, message: str, outgoing: OutgoingMessage) -> PostedIds:
        """A message which somebody deleted meanwhile stays deleted."""
        if not message:
            return await self._send(part, outgoing)
        await self._edit(message, outgoing)
        return self.channel, message

    async def _edit(self, message: str, outgoing: OutgoingMessage) -> None:
        with suppress(UnknownResource):
            await call_with_retries(
                "to change its message",
                lambda: self._http.edit_message(int(self.channel), int(message), params=build_edit_params(outgoing)),
            )

    async def delete_part(self, message: str) -> None:
        """Delete a part."""
        with suppress(UnknownResource):
            await call_with_retries(
                "to delete its message", lambda: self._http.delete_message(int(self.channel), int(message))
            )

    async def _send(self, part: int, outgoing: OutgoingMessage) -> PostedIds:
        # Only the first part quotes the question.
        reference = self._reference if part == 0 else ""
        sent = await call_with_retries(
            "to write there",
            lambda: self._http.send_message(
                int(self.channel), params=build_create_params(outgoing, build_nonce(self._answer, part), reference)
            ),
        )
        message = str(sent["id"])
        if not _is_same_message(
            sent, outgoing
        ):  # it was sent before, by a former run or in vain, and is given as it stands
            await self._edit(message, outgoing)
        return str(sent.get("channel_id", self.channel)), message


class ForumPostSink(ChannelSink):
    """A post of a forum, in which nothing is said outside of posts: the first part begins it, the others follow."""

    def __init__(self, http: HTTPClient, forum: discord.ForumChannel, answer: str) -> None:
        super().__init__(http, str(forum.id), answer)
        self._forum = forum

    async def _send(self, part: int, outgoing: OutgoingMessage) -> PostedIds:
        if part:
            return await super()._send(part, outgoing)
        thread, message = await call_with_retries(
            "to begin a post there", lambda: self._create_post(outgoing), idempotent=False
        )
        self.channel = str(thread.id)
        return self.channel, str(message.id)

    async def _create_post(self, outgoing: OutgoingMessage) -> discord.channel.ThreadWithMessage:
        forum, view = self._forum, build_view(outgoing.buttons)
        return await forum.create_thread(
            name=build_thread_title(outgoing.content) or "…",
            content=outgoing.content,
            files=_build_files(outgoing),
            applied_tags=forum.available_tags[:1] if forum.flags.require_tag else [],
            allowed_mentions=NO_MENTIONS,
            suppress_embeds=True,
            view=view if view is not None else discord.utils.MISSING,
        )


def _is_same_message(sent: Mapping[str, Any], outgoing: OutgoingMessage) -> bool:
    """Whether a message is what was to be sent, as far as Discord gives it back."""
    same_content = str(sent.get("content")).strip() == outgoing.content.strip()
    return same_content and bool(sent.get("components")) == bool(outgoing.buttons)


def build_create_params(
    outgoing: OutgoingMessage, nonce: str | None = None, reference: str = "", flags: discord.MessageFlags = NO_EMBEDS
) -> MultipartParameters:
    """A message to be sent. With the same `once` it is sent once in a few minutes."""
    quoted = {"message_id": reference, "fail_if_not_exists": False}
    return handle_message_parameters(
        content=outgoing.content,
        view=view if (view := build_view(outgoing.buttons)) is not None else discord.utils.MISSING,
        files=_build_files(outgoing) or discord.utils.MISSING,
        nonce=nonce,
        message_reference=quoted if reference else discord.utils.MISSING,  # type: ignore[arg-type]
        flags=flags,
        allowed_mentions=NO_MENTIONS,
    )


def build_edit_params(outgoing: OutgoingMessage) -> MultipartParameters:
    """A message as it shall be from now on, without a box that a former version put below it."""
    return handle_message_parameters(
        content=outgoing.content,
        embeds=[],
        view=build_view(outgoing.buttons),
        attachments=_build_files(outgoing) or discord.utils.MISSING,
        flags=NO_EMBEDS,
        allowed_mentions=NO_MENTIONS,
    )


def _build_files(outgoing: OutgoingMessage) -> list[discord.File]:
    if outgoing.picture is None:
        return []
    picture = outgoing.picture
    return [discord.File(BytesIO(picture.data), filename=picture.name, description=picture.alt_text[:1024])]
