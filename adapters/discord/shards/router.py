"""Implements bot.platform.ports.Platform for the servers of all shards that this process has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.common.router import RoutedCalls
from adapters.discord.replies.render import MAX_PART_LENGTH
from adapters.discord.replies.reply import EDIT_INTERVAL
from adapters.discord.settings import TRAITS
from adapters.discord.translate import NAME
from bot.errors import NotConnected
from bot.platform.ports import MessageLimits

if TYPE_CHECKING:
    from collections.abc import Collection

    from adapters.discord.platform import DiscordPlatform
    from adapters.discord.shards.shard import Shard
    from bot.platform.models import Location


class ShardRouter(RoutedCalls):
    """The servers of some shards. A call for another one raises NotConnected: its members and channels are unknown."""

    name = NAME
    traits = TRAITS
    limits = MessageLimits(max_length=MAX_PART_LENGTH, write_interval=EDIT_INTERVAL)
    listable_workspaces: Collection[str] = ()  # look-ups are free: the library caches all channels

    def __init__(self, shards: Collection[Shard]) -> None:
        self.shards = shards

    def get_workspace(self, workspace: str) -> DiscordPlatform:
        for shard in sorted(self.shards, key=lambda each: each.is_given_up):
            if shard.contains(workspace) and (found := shard.platform) is not None:
                return found
        raise NotConnected("There is no connection for this server here.")

    def serves(self, workspace: str) -> bool:
        """Whether this process handles the events of a server, or those outside of servers."""
        return any(shard.is_serving and shard.contains(workspace) for shard in self.shards)

    def forget_cached(self, location: Location) -> None:
        """Do nothing: the connection of this process reports every change."""
