# ruff: noqa: ARG002 - the contract with platforms names these arguments
"""A platform without a network: it says who reads which channel, and keeps what the bot shows instead of posting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import ListedChannel, Location, Person
from bot.platform.ports import MessageLimits, ThreadPage
from bot.platform.traits import PlatformTraits
from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from bot.platform.models import AnswerFooter, Card, Channel, Message, Upload
    from bot.platform.ports import Reaction, ReplyTarget

MAX_LENGTH = 20_000  # characters of a message


class StandInPlatform:
    """Implements `Platform`. `channels` by room, `people` by workspace and id; `shown`: what readers would see.

    `sent`: what is posted and where, as (channel, text).
    """

    traits = PlatformTraits()
    limits = MessageLimits(MAX_LENGTH, 0.0)
    listable_workspaces: Collection[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.channels: dict[str, Channel] = {}
        self.people: dict[tuple[str, str], Person] = {}
        self.shown: list[str] = []
        self.sent: list[tuple[str, str]] = []

    def take_sent(self, channel: str) -> str:
        """What was posted in a channel since the last call."""
        found = "\n".join(text for place, text in self.sent if place == channel)
        self.sent = [each for each in self.sent if each[0] != channel]
        return found

    def take_shown(self) -> str:
        """What was shown since the last call."""
        shown, self.shown = "\n".join(self.shown), []
        return shown

    def serves(self, workspace: str) -> bool:
        return True

    def forget_cached(self, location: Location) -> None:
        pass

    async def fetch_channel(self, location: Location) -> Channel:
        found = self.channels.get(location.room)
        if found is None:
            raise PermissionDenied("There is no such channel.")
        return found

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        return [
            ListedChannel(channel.location, channel.name, channel.kind, channel.shared, channel.adult)
            for channel in self.channels.values()
            if channel.kind != "direct"
            and channel.location.workspace == workspace
            and (not person or person in channel.members)
        ]

    async def fetch_person(self, workspace: str, person: str) -> Person:
        return self.people.get((workspace, person)) or Person(person, person)

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:
        return False

    async def open_direct(self, workspace: str, person: str) -> Location:
        return Location(self.name, workspace, f"direct-{person}")

    async def to_plain_text(self, workspace: str, text: str) -> str:
        return text

    def message_link(self, location: Location, message: str) -> str:
        return f"https://chat.invalid/{location.channel}/{message}"

    async def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        nothing: tuple[Sequence[Message], ...] = ()
        for page in nothing:
            yield page

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        return ThreadPage()

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        raise PlatformError("Messages are not looked up.")

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:
        raise InvalidDocument("Files are not fetched.")

    async def set_reaction(self, location: Location, message: str, sign: Reaction | None) -> None:
        pass

    async def post(self, location: Location, card: Card) -> str:
        self.shown.append(describe_card(card))
        self.sent.append((location.channel, describe_card(card)))
        return "shown"

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        self.shown.append(describe_card(card))

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        self.shown.append(text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        pass

    def start_reply(self, target: ReplyTarget) -> StandInReply:
        return StandInReply(self, target.location.channel)


class StandInReply:
    """Implements `Reply`."""

    reply_ref = ""

    def __init__(self, platform: StandInPlatform, channel: str) -> None:
        self._platform = platform
        self._channel = channel

    async def show_status(self, words: str) -> None:
        self._platform.shown.append(words)

    async def show(self, parts: Sequence[str]) -> None:
        self._platform.shown.extend(parts)

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        self._platform.shown.extend((*parts, repr(footer)))
        self._platform.sent.append((self._channel, "\n".join(parts)))

    async def replace(self, text: str) -> None:
        self._platform.shown.append(text)


def describe_card(card: Card) -> str:
    """All text of a card: of its buttons, of a file, and what describes its picture."""
    picture = card.picture
    if picture is None:
        return repr(card)
    text = "" if picture.is_image else picture.data.decode(errors="replace")
    return f"{card.text} {card.buttons} {picture.name} {picture.alt_text} {text}"
