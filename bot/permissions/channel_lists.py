"""Lists of channels, cached briefly: which ones the bot is in, and which ones a person is in.

An event wins over a list: what changed after a list was begun is not taken from that list. Versions are counted, not
timed, so that no two of them are ever the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.ttl_cache import Beliefs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bot.platform.models import ListedChannel, Place
    from bot.platform.ports import Platform

READING = 300.0  # seconds that a list may take: 20,000 channels are 21 pages
SETTLING = 2.0  # seconds after an event in which a list may not know of it yet
SINGLES = 4  # channels that are looked up singly before a list is read anew
KEPT = 256  # lists

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChannelList:
    """A complete list by room, and the version and the time (`clock`) at which it was begun."""

    channels: Mapping[str, ListedChannel]
    version: int
    began: float


@dataclass(frozen=True, slots=True)
class _Touch:
    """The latest change of a channel: its version, and when the bot was told."""

    place: Place
    version: int
    at: float


class ChannelLists:
    """Lists by platform, workspace and person; the bot's own if the person is empty."""

    def __init__(self, platforms: Mapping[str, Platform], max_age: float, clock: Callable[[], float]) -> None:
        self._platforms = platforms
        self._clock = clock
        self._lists: Beliefs[ChannelList] = Beliefs(max_age, clock, READING, KEPT)
        self._version = 0
        self._facts: dict[str, _Touch] = {}
        self._members: dict[str, _Touch] = {}

    def listable(self, platform: str, workspace: str) -> bool:
        """Whether the channels of a workspace can be listed."""
        found = self._platforms.get(platform)
        return found is not None and workspace in found.listable

    async def get(self, platform: str, workspace: str, person: str = "") -> ChannelList:
        """A list, read anew if it is too old, or if many of its channels changed meanwhile. Raises PlatformError."""
        key = (platform, workspace, person)
        found = await self._lists.get(key, lambda: self._read(*key))
        newer = [touch for touch in self._since(found, person) if touch.version > found.version]
        if len(newer) > SINGLES:
            self._lists.drop(key)
            found = await self._lists.get(key, lambda: self._read(*key))
        return found

    async def _read(self, platform: str, workspace: str, person: str) -> ChannelList:
        version, began = self._version, self._clock()
        channels = await self._platforms[platform].channel_list(workspace, person)
        return ChannelList({each.place.room: each for each in channels}, version, began)

    def stale(self, found: ChannelList, person: str = "") -> dict[str, Place]:
        """The channels, by room, of which a list may tell what is not true any more; also such as it lacks."""
        return {touch.place.room: touch.place for touch in self._since(found, person)}

    def _since(self, found: ChannelList, person: str) -> Iterator[_Touch]:
        """What changed since a list was begun or shortly before, the latest first."""
        touches = self._members if person else self._facts
        for touch in reversed(touches.values()):
            if touch.version <= found.version and found.began - touch.at >= SETTLING:
                return
            yield touch

    def changed(self, place: Place, *, members_only: bool = False) -> None:
        """Something about a channel changed, or about a whole workspace or platform if the place names none."""
        self._version += 1
        if not place.channel:
            self._lists.drop((place.platform, place.workspace) if place.workspace else (place.platform,))
            return
        touch = _Touch(place.main, self._version, self._clock())
        for touches in (self._members,) if members_only else (self._members, self._facts):
            touches.pop(place.room, None)  # so that the latest one stays last
            touches[place.room] = touch
