"""Slack as the bot wants a platform (see bot.platform.ports.Platform)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from adapters.common.lru import LRUDict
from adapters.common.reactions import StatusReactions
from adapters.slack.api.errors import SLACK_ERRORS, error_code, map_errors
from adapters.slack.identity import NAME
from adapters.slack.replies.ephemeral import EphemeralReply, PrivateMessages
from adapters.slack.replies.mrkdwn import defuse_mentions
from adapters.slack.replies.posted_answers import PostedAnswers
from adapters.slack.replies.reply import ThreadReply
from adapters.slack.replies.sender import OutgoingMessage
from adapters.slack.workspace.channels import Channels, ListingForbidden
from adapters.slack.workspace.files import Files
from adapters.slack.workspace.history import ChannelHistory
from adapters.slack.workspace.markup import find_mentioned_groups, find_mentioned_ids, to_plain_text
from adapters.slack.workspace.user_groups import UserGroups
from bot.errors import PermissionDenied, PlatformError
from bot.platform.ports import MessageLimits
from bot.platform.ttl_cache import TTLCache

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import SlackContext
    from bot.platform.models import Card, Channel, ListedChannel, Location, Message, Person, Upload
    from bot.platform.ports import Reaction, Reply, ReplyTarget, ThreadPage

log = structlog.get_logger(__name__)

REACTIONS: dict[Reaction, str] = {"working": "hourglass_flowing_sand", "done": "white_check_mark", "failed": "warning"}
PICTURE_NOTICE = "The picture is in our direct messages."


class SlackPlatform:
    """One workspace. `pager` must not repeat a call by itself when Slack asks to slow down."""

    name = NAME
    limits = MessageLimits(max_length=11_000, write_interval=0.7, burst_length=256)

    def __init__(self, study: SlackContext, pager: AsyncWebClient, member_age: float) -> None:
        self._context = study
        self._client = study.idempotent_client
        self._max_member_age = member_age
        self._channels = Channels(study.idempotent_client, study.identity, study.users)
        self._history = ChannelHistory(pager, study.identity)
        self._files = Files(study.idempotent_client)
        self._private_messages = PrivateMessages(study)
        self._user_groups = UserGroups(study.idempotent_client)
        self._is_listing_forbidden = False
        self._posted_answers = PostedAnswers(study)
        self._channel_names: TTLCache[str] = TTLCache(member_age, time.monotonic)
        self._new_questions: LRUDict[tuple[str, str], None] = LRUDict()
        self._status_reactions = StatusReactions(self)

    def record_question(self, channel: str, message: str) -> bool:
        """Note that a question came in this run, so that no answer to it can have been begun; False if it is noted."""
        new = (channel, message) not in self._new_questions
        self._new_questions[channel, message] = None
        return new

    def discard_question(self, channel: str, message: str) -> None:
        """Take that back: the question was known already, perhaps since a former run."""
        self._new_questions.pop((channel, message), None)

    # Facts.

    async def fetch_channel(self, place: Location) -> Channel:
        return await self._channels.fetch_channel(place)

    @property
    def listable_workspaces(self) -> Collection[str]:
        """Our workspace, unless Slack forbids this app to list channels."""
        return () if self._is_listing_forbidden else (self._context.identity.team,)

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        if workspace != self._context.identity.team:
            raise PermissionDenied("This is another workspace.")
        try:
            return await self._channels.list_channels(person)
        except ListingForbidden:
            self._is_listing_forbidden = True
            raise

    async def fetch_person(self, workspace: str, person: str) -> Person:  # noqa: ARG002  - there is but one workspace
        return await self._context.users.get_person(person, self._max_member_age)

    async def to_plain_text(self, workspace: str, text: str) -> str:  # noqa: ARG002
        people, channels = find_mentioned_ids(text)
        names = await self._context.users.get_names(people)
        found = await asyncio.gather(*(self._channel_name(id_) for id_ in channels))
        shown = {id_: name for id_, name in zip(channels, found, strict=True) if name}
        return to_plain_text(text, names, shown, await self._user_groups.get_names(find_mentioned_groups(text)))

    async def _channel_name(self, channel: str) -> str:
        try:
            return await self._channel_names.get_or_fetch((channel,), lambda: self._open_name(channel))
        except PlatformError:
            return ""

    async def _open_name(self, channel: str) -> str:
        """A channel that is hidden from the bot has no name, which is remembered too."""
        try:
            return await self._channels.fetch_open_name(channel)
        except PermissionDenied:
            return ""

    def invalidate_channel(self, channel: str) -> None:
        """A channel may bear another name now, or be read by others; an empty one: any."""
        self._channel_names.invalidate((channel,) if channel else ())

    def message_link(self, place: Location, message: str) -> str:
        address = f"{self._context.identity.url}archives/{place.channel}/p{message.replace('.', '')}"
        inside = place.thread and place.thread != message
        return f"{address}?thread_ts={place.thread}&cid={place.channel}" if inside else address

    # Reading.

    def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        return self._history.fetch_pages(place, since, before)

    async def fetch_thread(self, place: Location, limit: int) -> ThreadPage:
        return await self._history.fetch_thread(place, limit)

    async def fetch_message(self, place: Location, message: str) -> Message | None:
        return await self._history.fetch_message(place, message)

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        return await self._files.download(upload, limit)

    # Saying.

    async def set_reaction(self, place: Location, message: str, sign: Reaction | None) -> None:
        await self._status_reactions.set(place.channel, message, sign)

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

    async def post(self, place: Location, card: Card) -> str:
        with map_errors():
            posted = await self._context.sender.post(place.channel, place.thread, self._build_message(card))
        if card.picture:
            await self._files.upload_picture(place.channel, place.thread, card.picture)
        return posted

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        letter = self._build_message(card)
        with map_errors():
            if card.picture:
                direct = await self._private_messages.open_direct(target.person)
                await self._files.upload_picture(direct, "", card.picture)
                if not target.location.channel.startswith("D"):
                    letter = self._build_message(card, PICTURE_NOTICE)
            await self._private_messages.send(target, letter)

    def _build_message(self, card: Card, more: str = "") -> OutgoingMessage:
        text = f"{card.text}\n\n{more}" if more else card.text
        return OutgoingMessage(defuse_mentions(text, self._context.users.get_name), buttons=card.buttons)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        await self._posted_answers.replace(target, text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        await self._posted_answers.delete(target)

    def start_reply(self, target: ReplyTarget) -> Reply:
        if target.private:
            return EphemeralReply(target, self._context, self._private_messages)
        fresh = (target.location.channel, target.message) in self._new_questions
        return ThreadReply(target, self._context, fresh=fresh)
