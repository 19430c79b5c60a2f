"""Send and edit the bot's messages in channels; a nonce prevents duplicates."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import discord
from discord.http import MultipartParameters, handle_message_parameters

from adapters.discord.calls import UnknownResource, call_with_retries
from adapters.discord.replies.buttons import build_view, encode_custom_id
from adapters.discord.replies.refs import build_nonce
from adapters.discord.replies.render import MAX_PART_LENGTH, build_thread_title, render_markdown
from bot.text.splitting import split_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discord.http import HTTPClient

    from bot.platform.models import Button, Card, Picture

PostedIds: TypeAlias = tuple[str, str]  # channel id, message id

NO_MENTIONS = discord.AllowedMentions.none()
NO_EMBEDS = discord.MessageFlags(suppress_embeds=True)  # no previews of links
EPHEMERAL = discord.MessageFlags(suppress_embeds=True, ephemeral=True)


@dataclass(frozen=True, slots=True)
class MessageContent:
    """The content of one message, in Discord's Markdown. `mentions`: ids of the only people whom it notifies."""

    content: str
    buttons: tuple[Button, ...] = ()
    picture: Picture | None = None
    mentions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The content, after the names of the people whom it notifies."""
        return " ".join([*(f"<@{int(mention)}>" for mention in self.mentions), self.content])

    @property
    def allowed_mentions(self) -> discord.AllowedMentions:
        """Who is notified."""
        people = [discord.Object(int(mention)) for mention in self.mentions]
        return discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=people or False)


def split_card(card: Card) -> list[MessageContent]:
    """Split a card into messages; the picture and the mentions go with the first, the buttons with the last."""
    messages = [MessageContent(render_markdown(part)) for part in split_message(card.text, MAX_PART_LENGTH) or ("",)]
    messages[0] = replace(messages[0], picture=card.picture, mentions=card.mentions)
    messages[-1] = replace(messages[-1], buttons=card.buttons)
    return messages


class MessageSink(Protocol):
    """Writes the messages of a reply: to a channel or as interaction responses."""

    @property
    def handle(self) -> str:
        """The handle needed to edit these messages (ReplyRef.handle); empty if they are in a channel."""

    async def write_part(self, part: int, message: str, outgoing: MessageContent) -> PostedIds:
        """Send a part, or edit `message` if it was sent before; gives its ids."""

    async def delete_part(self, message: str) -> None:
        """Delete the message that holds a part of the answer; one that is gone already is no error."""


class ChannelSink:
    """Messages in a channel. `reference`: id of the message to reply to; `answer`: seed of the nonces."""

    handle = ""

    def __init__(self, http: HTTPClient, channel: str, answer: str, reference: str = "") -> None:
        self._http = http
        self.channel = channel
        self._answer = answer
        self._reference = reference

    async def write_part(self, part: int, message: str, outgoing: MessageContent) -> PostedIds:
        """Send or edit a part; a message that was deleted in between stays deleted."""
        if not message:
            return await self._send(part, outgoing)
        await self._edit(message, outgoing)
        return self.channel, message

    async def _edit(self, message: str, outgoing: MessageContent) -> None:
        with suppress(UnknownResource):
            await call_with_retries(
                "to change its message",
                lambda: self._http.edit_message(int(self.channel), int(message), params=build_edit_params(outgoing)),
            )

    async def delete_part(self, message: str) -> None:
        """Delete the message of a part, unless it is gone already."""
        with suppress(UnknownResource):
            await call_with_retries(
                "to delete its message", lambda: self._http.delete_message(int(self.channel), int(message))
            )

    async def _send(self, part: int, outgoing: MessageContent) -> PostedIds:
        # Only the first part replies to the question.
        reference = self._reference if part == 0 else ""
        sent = await call_with_retries(
            "to write there",
            lambda: self._http.send_message(
                int(self.channel), params=build_create_params(outgoing, build_nonce(self._answer, part), reference)
            ),
        )
        message = str(sent["id"])
        # Discord returns the existing message if the nonce was used before: by an earlier run or a lost call.
        if not _is_same_message(sent, outgoing):
            await self._edit(message, outgoing)
        return str(sent.get("channel_id", self.channel)), message


class ForumPostSink(ChannelSink):
    """A new post in a forum channel: the first part creates it, the others follow in it."""

    def __init__(self, http: HTTPClient, forum: discord.ForumChannel, answer: str) -> None:
        super().__init__(http, str(forum.id), answer)
        self._forum = forum

    async def _send(self, part: int, outgoing: MessageContent) -> PostedIds:
        if part:
            return await super()._send(part, outgoing)
        thread, message = await call_with_retries(
            "to create a forum post", lambda: self._create_post(outgoing), idempotent=False
        )
        self.channel = str(thread.id)
        return self.channel, str(message.id)

    async def _create_post(self, outgoing: MessageContent) -> discord.channel.ThreadWithMessage:
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


def _is_same_message(sent: Mapping[str, Any], outgoing: MessageContent) -> bool:
    """Whether a returned message has the intended content and buttons."""
    same_content = str(sent.get("content")).strip() == outgoing.text.strip()
    return same_content and list_custom_ids(sent) == [encode_custom_id(e.action, e.value) for e in outgoing.buttons]


def list_custom_ids(sent: Mapping[str, Any]) -> list[str]:
    """The ids of a message's buttons."""
    return [
        str(component.get("custom_id"))
        for row in sent.get("components") or ()
        for component in row.get("components") or ()
    ]


def build_create_params(
    outgoing: MessageContent, nonce: str | None = None, reference: str = "", flags: discord.MessageFlags = NO_EMBEDS
) -> MultipartParameters:
    """Build the parameters to send a message. Discord sends one message per `nonce` within a few minutes."""
    quoted = {"message_id": reference, "fail_if_not_exists": False}
    return handle_message_parameters(
        content=outgoing.text,
        view=view if (view := build_view(outgoing.buttons)) is not None else discord.utils.MISSING,
        files=_build_files(outgoing) or discord.utils.MISSING,
        nonce=nonce,
        message_reference=quoted if reference else discord.utils.MISSING,  # type: ignore[arg-type]
        flags=flags,
        allowed_mentions=outgoing.allowed_mentions,
    )


def build_edit_params(outgoing: MessageContent) -> MultipartParameters:
    """Build the parameters to edit a message; also removes its embeds."""
    return handle_message_parameters(
        content=outgoing.text,
        embeds=[],
        view=build_view(outgoing.buttons),
        attachments=_build_files(outgoing) or discord.utils.MISSING,
        flags=NO_EMBEDS,
        allowed_mentions=NO_MENTIONS,
    )


def _build_files(outgoing: MessageContent) -> list[discord.File]:
    if outgoing.picture is None:
        return []
    picture = outgoing.picture
    return [discord.File(BytesIO(picture.data), filename=picture.name, description=picture.alt_text[:1024])]
