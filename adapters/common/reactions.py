"""Keep one status reaction of the bot per message: replace the previous one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from adapters.common.bounded_dict import BoundedDict

if TYPE_CHECKING:
    from bot.platform.ports import Reaction


class ReactionClient(Protocol):
    """Adds and removes single reactions on a platform."""

    async def add_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        """Add a reaction of the bot."""

    async def remove_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        """Remove a reaction of the bot; one that is not there is ignored."""


class StatusReactions:
    """Remembers the bot's current reaction by channel and message."""

    def __init__(self, client: ReactionClient) -> None:
        self._client = client
        self._current: BoundedDict[tuple[str, str], Reaction | None] = BoundedDict()

    async def set(self, channel: str, message: str, reaction: Reaction | None) -> None:
        """Replace the reaction on a message; None removes it.

        A message of an earlier run is assumed to bear “working”, which is what a crash leaves behind.
        """
        key = (channel, message)
        previous = self._current.get(key, None if reaction == "working" else "working")
        if previous == reaction:
            return
        if previous is not None:
            await self._client.remove_reaction(channel, message, previous)
        if reaction is not None:
            await self._client.add_reaction(channel, message, reaction)
        self._current[key] = reaction
