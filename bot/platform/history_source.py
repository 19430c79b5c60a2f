"""The past of a workspace outside of its platform, such as an export, and how it is read like a platform."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from bot.errors import PermissionDenied, PlatformError
from bot.platform.models import Channel, Person
from bot.platform.ports import MessageLimits, ThreadPage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from bot.platform.models import Card, ListedChannel, Location, Message, Upload
    from bot.platform.ports import Platform, Reaction, Reply, ReplyTarget
    from bot.platform.traits import PlatformTraits

READ_ONLY = "An export can only be read."
MAX_NAMED = 20_000  # things that are named; the others are counted


@dataclass(frozen=True, slots=True)
class Omission:
    """What an import left out: `count` things of a kind, in a channel and with a name where they have one."""

    kind: str
    channel: str = ""
    name: str = ""
    count: int = 1


class Omissions(Counter[str]):
    """How many things were left out, by kind; those that `note` counted can be listed by channel and name, too."""

    def __init__(self) -> None:
        super().__init__()
        self._details: Counter[tuple[str, str, str]] = Counter()

    def note(self, kind: str, channel: str = "", name: str = "", count: int = 1) -> None:
        """Count things that are left out of a channel."""
        if count:
            self[kind] += count
            self._details[kind, channel, name if len(self._details) < MAX_NAMED else ""] += count

    def list_all(self) -> list[Omission]:
        """Everything that was left out, by kind and channel."""
        found = [Omission(*key, count) for key, count in sorted(self._details.items())]
        listed = Counter[str]()
        for omission in found:
            listed[omission.kind] += omission.count
        rest = ((kind, count - listed[kind]) for kind, count in sorted(self.items()))
        return [*found, *(Omission(kind, count=count) for kind, count in rest if count > 0)]


class HistorySource(Protocol):
    """Channels, people, messages and files of one workspace. Reading may block: callers use a thread.

    `platform`: its name. `until`: the source contains nothing newer. `omissions`: how many things were left out so far,
    by reason.
    """

    platform: str
    traits: PlatformTraits
    until: datetime
    omissions: Omissions

    def list_channels(self) -> Sequence[Channel]:
        """The channels, with the audience that they had then. Raises InvalidDocument."""

    def read_pages(self, location: Location) -> Iterator[Sequence[Message]]:
        """The messages of a channel and its threads, oldest first. Raises InvalidDocument."""

    def get_person(self, person: str) -> Person | None:
        """A person; None if the source does not know them."""

    async def to_plain_text(self, text: str) -> str:
        """Convert as `Platform.to_plain_text`."""

    def message_link(self, location: Location, message: str) -> str:
        """Link as `Platform.message_link`."""

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        """Fetch as `Platform.fetch_file`."""

    def close(self) -> None:
        """Close the files of the source."""


@dataclass(slots=True)
class ImportStats:
    """Counters of an import: `seen` messages, those that were `new` or `edited`, `files`, and `omissions` by reason."""

    channels: int = 0
    seen: int = 0
    new: int = 0
    edited: int = 0
    files: int = 0
    omissions: Omissions = field(default_factory=Omissions)


class SourcePlatform:
    """Implements `Platform` for reading a source.

    `platforms`: those that are attached now; the source's own one says who can read a channel, and how messages are
    linked.
    A channel that the bot is not in counts as closed: nobody reports when its audience changes. So do the channels in
    `closed_rooms`. `spaces`: those of the rooms whose readers the person who imports named.
    """

    limits = MessageLimits(max_length=1, write_interval=0.0)
    listable_workspaces: Collection[str] = ()

    def __init__(self, source: HistorySource, platforms: Mapping[str, Platform]) -> None:
        self.name = source.platform
        self.traits = replace(source.traits, reads_by_default=True)
        self.closed_rooms: set[str] = set()
        self.spaces: dict[str, str] = {}
        self._source = source
        self._platforms = platforms
        self._channels = {channel.location.room: channel for channel in source.list_channels()}

    @property
    def _live(self) -> Platform | None:
        """The platform itself, once it is attached."""
        return self._platforms.get(self.name)

    def serves(self, workspace: str) -> bool:  # noqa: ARG002 - an export has one workspace
        return True

    def forget_cached(self, location: Location) -> None:
        """Do nothing: an export does not change."""

    async def fetch_channel(self, location: Location) -> Channel:
        """The channel as it can be read now; closed, and without members, if that is unknown."""
        known = self._channels[location.room]
        if location.room in self.spaces:
            return replace(known, space=self.spaces[location.room])
        closed = Channel(known.location, known.name, "closed")
        if self._live is None:
            return closed if location.room in self.closed_rooms else known
        try:
            found = await self._live.fetch_channel(location)
        except PlatformError:
            return closed
        return found if found.has_bot else closed

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def fetch_person(self, workspace: str, person: str) -> Person:
        found = self._source.get_person(person)
        if found is not None:
            return found
        if self._live is not None:
            return await self._live.fetch_person(workspace, person)
        raise PermissionDenied("The export does not contain this person.")

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:  # noqa: ARG002
        raise PermissionDenied("An export does not contain groups.")

    async def open_direct(self, workspace: str, person: str) -> Location:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def to_plain_text(self, workspace: str, text: str) -> str:  # noqa: ARG002
        return await self._source.to_plain_text(text)

    def message_link(self, location: Location, message: str) -> str:
        return (self._live or self._source).message_link(location, message)

    def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:  # noqa: ARG002
        return ThreadPage(is_complete=False)

    async def fetch_message(self, location: Location, message: str) -> Message | None:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:  # noqa: ARG002
        return await self._source.fetch_file(upload, limit)

    async def set_reaction(self, location: Location, message: str, sign: Reaction | None) -> None:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def post(self, location: Location, card: Card) -> str:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def send_private(self, target: ReplyTarget, card: Card) -> None:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    async def delete_answer(self, target: ReplyTarget) -> None:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)

    def start_reply(self, target: ReplyTarget) -> Reply:  # noqa: ARG002
        raise PermissionDenied(READ_ONLY)
