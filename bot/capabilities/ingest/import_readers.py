"""Who will find what an import brings, in one sentence for whoever imports it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.text.format import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.permissions.import_destination import ImportDestination
    from bot.platform.models import Channel

TERMINAL_ALONE = "Only whoever uses this terminal can find them: no platform can be asked who else may read them."
UNTIL_ADDED = "what is in a channel that the bot is not in stays closed until somebody adds it there"


def describe_import_readers(
    channels: Sequence[Channel], destination: ImportDestination | None, *, is_served: bool
) -> str:
    """Who will find what is in these channels of an export. `is_served`: the platform says itself who reads them."""
    if destination is None and not is_served:
        return TERMINAL_ALONE
    mapped = [channel for channel in channels if destination and destination.find_channel(channel)]
    rest = [channel for channel in channels if channel not in mapped]
    direct = [channel for channel in rest if channel.kind == "direct"]
    is_open = [channel for channel in rest if channel.kind == "open" and not channel.shared]
    closed = [channel for channel in rest if channel not in is_open and channel not in direct]
    everyone = f"every full member of {_name_workspaces(channels, destination)}"
    parts = [f"{everyone} {_count(is_open, 'open channel')}"] if is_open else []
    if destination is not None:
        parts += [_name_mapped(channel, destination) for channel in mapped]
        return f"{_join(parts)}; {_describe_left_out(len(closed) + len(direct))}."
    parts += [f"only its own members {_count(closed, 'other channel')}"] if closed else []
    parts += [f"only the people in it {_count(direct, 'direct conversation')}"] if direct else []
    return f"{_join(parts)}; {UNTIL_ADDED}."


def _join(parts: Sequence[str]) -> str:
    return f"Who can find it: {', '.join([*parts, 'and whoever uses this terminal all of it'])}"


def _describe_left_out(count: int) -> str:
    if not count:
        return "nothing is left out"
    verb = "is" if count == 1 else "are"
    return f"{pluralize(count, 'channel')} without readers there {verb} left out (--channel-map names them)"


def _name_workspaces(channels: Sequence[Channel], destination: ImportDestination | None) -> str:
    if destination is not None:
        return f"{destination.platform}:{destination.workspace}"
    return " or ".join(sorted({channel.location.workspace_key for channel in channels}))


def _name_mapped(channel: Channel, destination: ImportDestination) -> str:
    target = destination.find_channel(channel)
    return f"everyone in {target.channel if target else ''} what is in #{channel.name.removeprefix('#')}"


def _count(channels: Sequence[Channel], noun: str) -> str:
    return f"what is in {pluralize(len(channels), noun)}"
