"""Slack as the bot wants a platform (see bot.platform.ports.Platform)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from adapters.common.lru import Latest
from adapters.slack.api.errors import TROUBLE, code, told
from adapters.slack.identity import NAME
from adapters.slack.replies.ephemeral import WhisperedReply, Whispers
from adapters.slack.replies.mrkdwn import safe
from adapters.slack.replies.posted_answers import PostedAnswers
from adapters.slack.replies.reply import ThreadReply
from adapters.slack.replies.sender import Letter
from adapters.slack.workspace.channels import Channels, Unlistable
from adapters.slack.workspace.files import Files
from adapters.slack.workspace.history import History
from adapters.slack.workspace.markup import groups, named, readable
from adapters.slack.workspace.user_groups import UserGroups
from bot.errors import PlatformError, Withheld
from bot.platform.ports import Limits
from bot.platform.ttl_cache import Beliefs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import Study
    from bot.platform.models import Card, Channel, ListedChannel, Message, Person, Place, Upload
    from bot.platform.ports import Listing, Reply, Sign, Target

log = structlog.get_logger(__name__)

SIGNS: dict[Sign, str] = {"working": "hourglass_flowing_sand", "done": "white_check_mark", "failed": "warning"}
PICTURE = "The picture is in our direct messages."


class SlackPlatform:
    """One workspace. `pager` must not repeat a call by itself when Slack asks to slow down."""

    name = NAME
    limits = Limits(part=11_000, every=0.7, burst=256)

    def __init__(self, study: Study, pager: AsyncWebClient, member_age: float) -> None:
        self._study = study
        self._client = study.reader
        self._age = member_age
        self._channels = Channels(study.reader, study.us, study.people)
        self._history = History(pager, study.us)
        self._files = Files(study.reader)
        self._whispers = Whispers(study)
        self._groups = UserGroups(study.reader)
        self._unlisted = False
        self._posted = PostedAnswers(study)
        self._names: Beliefs[str] = Beliefs(member_age, time.monotonic)
        self._heard: Latest[tuple[str, str], None] = Latest()
        self._signs: Latest[tuple[str, str], Sign | None] = Latest()

    def heard(self, channel: str, message: str) -> bool:
        """Note that a question came in this run, so that no answer to it can have been begun; False if it is noted."""
        new = (channel, message) not in self._heard
        self._heard[channel, message] = None
        return new

    def known(self, channel: str, message: str) -> None:
        """Take that back: the question was known already, perhaps since a former run."""
        self._heard.pop((channel, message), None)

    # Facts.

    async def channel(self, place: Place) -> Channel:
        return await self._channels.channel(place)

    @property
    def listable(self) -> Collection[str]:
        """Our workspace, unless Slack forbids this app to list channels."""
        return () if self._unlisted else (self._study.us.team,)

    async def channel_list(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        if workspace != self._study.us.team:
            raise Withheld("This is another workspace.")
        try:
            return await self._channels.listed(person)
        except Unlistable:
            self._unlisted = True
            raise

    async def person(self, workspace: str, person: str) -> Person:  # noqa: ARG002  - there is but one workspace
        return await self._study.people.person(person, self._age)

    async def readable(self, workspace: str, text: str) -> str:  # noqa: ARG002
        people, channels = named(text)
        names = await self._study.people.names(people)
        found = await asyncio.gather(*(self._channel_name(id_) for id_ in channels))
        shown = {id_: name for id_, name in zip(channels, found, strict=True) if name}
        return readable(text, names, shown, await self._groups.names(groups(text)))

    async def _channel_name(self, channel: str) -> str:
        try:
            return await self._names.get((channel,), lambda: self._open_name(channel))
        except PlatformError:
            return ""

    async def _open_name(self, channel: str) -> str:
        """A channel that is hidden from the bot has no name, which is remembered too."""
        try:
            return await self._channels.open_name(channel)
        except Withheld:
            return ""

    def changed(self, channel: str) -> None:
        """A channel may bear another name now, or be read by others; an empty one: any."""
        self._names.drop((channel,) if channel else ())

    def link(self, place: Place, message: str) -> str:
        address = f"{self._study.us.url}archives/{place.channel}/p{message.replace('.', '')}"
        inside = place.thread and place.thread != message
        return f"{address}?thread_ts={place.thread}&cid={place.channel}" if inside else address

    # Reading.

    def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        return self._history.pages(place, since, before)

    async def thread(self, place: Place, limit: int) -> Listing:
        return await self._history.newest(place, limit)

    async def message(self, place: Place, message: str) -> Message | None:
        return await self._history.one(place, message)

    async def fetch(self, upload: Upload, limit: int) -> bytes:
        return await self._files.fetch(upload, limit)

    # Saying.

    async def sign(self, place: Place, message: str, sign: Sign | None) -> None:
        """Reactions are a courtesy: one that Slack refuses is left out."""
        key = (place.channel, message)
        before = self._signs.get(key, None if sign == "working" else "working")
        if before == sign:
            return
        if before is not None:
            await self._react(place.channel, message, SIGNS[before], put=False)
        if sign is not None:
            await self._react(place.channel, message, SIGNS[sign], put=True)
        self._signs[key] = sign

    async def _react(self, channel: str, message: str, name: str, *, put: bool) -> None:
        react = self._client.reactions_add if put else self._client.reactions_remove
        try:
            await react(channel=channel, name=name, timestamp=message)
        except TROUBLE as error:
            if code(error) not in ("already_reacted", "no_reaction"):
                log.warning("reaction_refused", error=code(error))

    async def post(self, place: Place, card: Card) -> str:
        with told():
            posted = await self._study.letters.post(place.channel, place.thread, self._letter(card))
        if card.picture:
            await self._files.show(place.channel, place.thread, card.picture)
        return posted

    async def whisper(self, target: Target, card: Card) -> None:
        letter = self._letter(card)
        with told():
            if card.picture:
                direct = await self._whispers.direct(target.person)
                await self._files.show(direct, "", card.picture)
                if not target.place.channel.startswith("D"):
                    letter = self._letter(card, PICTURE)
            await self._whispers.say(target, letter)

    def _letter(self, card: Card, more: str = "") -> Letter:
        text = f"{card.text}\n\n{more}" if more else card.text
        return Letter(safe(text, self._study.people.name), buttons=card.buttons)

    async def replace_answer(self, target: Target, text: str) -> None:
        await self._posted.replace(target, text)

    async def delete_answer(self, target: Target) -> None:
        await self._posted.delete(target)

    def reply(self, target: Target) -> Reply:
        if target.private:
            return WhisperedReply(target, self._study, self._whispers)
        fresh = (target.place.channel, target.message) in self._heard
        return ThreadReply(target, self._study, fresh=fresh)
