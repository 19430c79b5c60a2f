"""Implements bot.platform.ports.Platform for one workspace; `router` for all of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from adapters.common.reactions import StatusReactions
from adapters.slack.context import NAME
from adapters.slack.errors import SLACK_ERRORS, error_code, map_errors
from adapters.slack.replies.ephemeral import EphemeralReply, PrivateMessages
from adapters.slack.replies.mrkdwn import defuse_mentions
from adapters.slack.replies.posted_answers import SlackPostedAnswers
from adapters.slack.replies.reply import ThreadReply
from adapters.slack.replies.sender import OutgoingMessage
from adapters.slack.settings import TRAITS
from adapters.slack.workspace.channels import Channels, ListingForbidden
from adapters.slack.workspace.files import Files
from adapters.slack.workspace.history import ChannelHistory
from adapters.slack.workspace.markup import find_mentioned_groups, find_mentioned_ids, to_plain_text
from adapters.slack.workspace.messages import message_link
from adapters.slack.workspace.users import UserGroups
from bot.errors import PermissionDenied, PlatformError
from bot.i18n import N_, gettext
from bot.platform.models import Location
from bot.platform.ports import MessageLimits
from bot.platform.ttl_cache import TTLCache
from engine.scheduling.feature_breaker import FeatureBreaker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
    from datetime import datetime

    from adapters.slack.context import SlackContext
    from bot.platform.models import Card, Channel, ListedChannel, Message, Person, Upload
    from bot.platform.ports import Reaction, Reply, ReplyTarget, ThreadPage

log = structlog.get_logger(__name__)

REACTIONS: dict[Reaction, str] = {"working": "hourglass_flowing_sand", "done": "white_check_mark", "failed": "warning"}
PICTURE_NOTICE = N_("I sent you the picture in a direct message.")
FILE_NOTICE = N_("I sent you the file in a direct message.")


class SlackPlatform:
    """One Slack workspace."""

    name = NAME
    traits = TRAITS
    limits = MessageLimits(max_length=11_000, write_interval=0.7)

    def __init__(self, context: SlackContext, membership_cache_seconds: float) -> None:
        self._context = context
        self._client = context.idempotent_client
        self._max_member_age = membership_cache_seconds
        self._channels = Channels(context.idempotent_client, context.identity, context.users)
        self._history = ChannelHistory(context.clients.history, context.identity)
        self._files = Files(context.idempotent_client)
        self._private_messages = PrivateMessages(context)
        self._user_groups = UserGroups(context.idempotent_client, context.clock)
        self._listing = FeatureBreaker(context.clock)
        self._posted_answers = SlackPostedAnswers(context)
        self._channel_names: TTLCache[str] = TTLCache(membership_cache_seconds, context.clock)
        self._status_reactions = StatusReactions(self)

    def forget_cached(self, location: Location) -> None:
        """Drop the name of a channel; if any may have changed, also the access of all users."""
        self.invalidate_channel(location.channel)
        if not location.channel:
            self._context.users.invalidate()

    # Channels and users.

    async def fetch_channel(self, location: Location) -> Channel:
        return await self._channels.fetch_channel(location)

    @property
    def listable_workspaces(self) -> Collection[str]:
        """The bot's workspace, unless the app may not list channels."""
        return (self._context.identity.team,) if self._listing.is_closed else ()

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        if workspace != self._context.identity.team:
            raise PermissionDenied("The channel belongs to another workspace.")
        try:
            listed = await self._channels.list_channels(person)
        except ListingForbidden:
            self._listing.record_refusal()
            raise
        self._listing.record_success()
        return listed

    async def fetch_person(self, workspace: str, person: str) -> Person:  # noqa: ARG002  - it is this workspace
        return await self._context.users.get_person(person, self._max_member_age)

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:  # noqa: ARG002
        return await self._user_groups.has_member(group, person)

    async def open_direct(self, workspace: str, person: str) -> Location:
        with map_errors():
            return Location(NAME, workspace, await self._private_messages.open_direct(person))

    async def to_plain_text(self, workspace: str, text: str) -> str:  # noqa: ARG002
        people, channels = find_mentioned_ids(text)
        names = await self._context.users.get_names(people)
        channel_names = await asyncio.gather(*(self._channel_name(id_) for id_ in channels))
        names_by_channel = {id_: name for id_, name in zip(channels, channel_names, strict=True) if name}
        return to_plain_text(
            text, names, names_by_channel, await self._user_groups.get_names(find_mentioned_groups(text))
        )

    async def _channel_name(self, channel: str) -> str:
        try:
            return await self._channel_names.get_or_fetch((channel,), lambda: self._open_name(channel))
        except PlatformError:
            return ""

    async def _open_name(self, channel: str) -> str:
        """Fetch a public channel's name; empty for a channel hidden from the bot, which is cached too."""
        try:
            return await self._channels.fetch_open_name(channel)
        except PermissionDenied:
            return ""

    def invalidate_channel(self, channel: str) -> None:
        """Drop a channel's cached name; an empty `channel` drops all."""
        self._channel_names.invalidate((channel,) if channel else ())

    def message_link(self, location: Location, message: str) -> str:
        return message_link(self._context.identity.url, location, message)

    # Messages and files.

    def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        return self._history.fetch_pages(location, since, before)

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        return await self._history.fetch_thread(location, limit)

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        return await self._history.fetch_message(location, message)

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:  # noqa: ARG002
        return await self._files.download(upload, limit)

    # Posting.

    async def set_reaction(self, location: Location, message: str, reaction: Reaction | None) -> None:
        await self._status_reactions.set(location.channel, message, reaction)

    async def add_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        """Add a reaction of the bot; a refusal is only logged."""
        await self._react(self._client.reactions_add, channel, message, reaction)

    async def remove_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        """Remove a reaction of the bot; a refusal is only logged."""
        await self._react(self._client.reactions_remove, channel, message, reaction)

    async def _react(
        self, call: Callable[..., Awaitable[object]], channel: str, message: str, reaction: Reaction
    ) -> None:
        try:
            await call(channel=channel, name=REACTIONS[reaction], timestamp=message)
        except SLACK_ERRORS as error:
            if error_code(error) not in ("already_reacted", "no_reaction"):
                log.warning("slack.reaction_failed", error=error_code(error))

    async def post(self, location: Location, card: Card) -> str:
        with map_errors():
            posted = await self._context.sender.post(location.channel, location.thread, self._build_message(card))
        if card.picture:
            await self._files.upload_picture(location.channel, location.thread, card.picture)
        return posted

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        outgoing = self._build_message(card)
        with map_errors():
            if card.picture:
                direct = await self._private_messages.open_direct(target.person)
                await self._files.upload_picture(direct, "", card.picture)
                if not target.location.channel.startswith("D"):
                    notice = PICTURE_NOTICE if card.picture.is_image else FILE_NOTICE
                    outgoing = self._build_message(card, gettext(notice))
            await self._private_messages.send(target, outgoing)

    def _build_message(self, card: Card, note: str = "") -> OutgoingMessage:
        text = f"{card.text}\n\n{note}" if note else card.text
        return OutgoingMessage(
            defuse_mentions(text, self._context.users.get_name),
            buttons=card.buttons,
            mentions=card.mentions,
            is_card=True,
        )

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        await self._posted_answers.replace(target, text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        await self._posted_answers.delete(target)

    def start_reply(self, target: ReplyTarget) -> Reply:
        if target.private:
            return EphemeralReply(target, self._context, self._private_messages)
        return ThreadReply(target, self._context)
