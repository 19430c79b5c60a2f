"""Who can read the past of a platform that the bot does not serve: people of a workspace that somebody names. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import BadSetting
from bot.permissions.audience import workspace_space
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from bot.platform.models import Channel

_WORKSPACE = re.compile(r"([a-z]{1,40}):([A-Za-z0-9]{1,40})")
_CHANNEL_MAP = re.compile(r"#?([^=]{1,200})=([A-Za-z0-9]{1,40})")
_SPACE_WORDS = frozenset({"open", "adult", "dm"})  # an id like this would name another space


@dataclass(frozen=True, slots=True)
class ImportDestination:
    """A workspace, whose full members read the open channels of an import.

    `channels`: by the name of an imported channel, the id of the closed channel whose readers alone read it.
    """

    platform: str
    workspace: str
    channels: Mapping[str, str]

    def find_home(self, channel: Channel) -> str:
        """The space of an imported channel; "" if nobody there may read it."""
        if found := self.find_channel(channel):
            return found.room
        if channel.kind == "open" and not channel.shared:
            return workspace_space(self.platform, self.workspace, adult=channel.adult)
        return ""

    def find_channel(self, channel: Channel) -> Location | None:
        """The closed channel whose readers read an imported one; None for others, and for direct messages."""
        target = self.channels.get(channel.name.casefold()) if channel.location.workspace else None
        return Location(self.platform, self.workspace, target) if target else None


def parse_destination(into: str, channel_map: Iterable[str], platforms: Collection[str]) -> ImportDestination:
    """A destination such as `chat:T0123`, with maps such as `board=C0456`. `platforms`: those that the bot serves.

    Raises BadSetting.
    """
    match = _WORKSPACE.fullmatch(into)
    if match is None or match[1] not in platforms:
        known = " or ".join(f"{platform}:ID" for platform in sorted(platforms))
        raise BadSetting(f"“{into}” is no workspace.", hint=f"Write {known}.")
    return ImportDestination(match[1], match[2], dict(map(_parse_map, channel_map)))


def _parse_map(text: str) -> tuple[str, str]:
    match = _CHANNEL_MAP.fullmatch(text.strip())
    if match is None or match[2].casefold() in _SPACE_WORDS:
        raise BadSetting(f"“{text}” maps no channel.", hint="Write NAME=ID, such as board=C0456.")
    return match[1].casefold(), match[2]
