"""Who will find what an import brings, in words for whoever imports it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.text.format import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.permissions.import_destination import ImportDestination
    from bot.platform.models import Channel

TERMINAL_ALONE = "Only whoever uses this terminal can find this: no platform says who else may read it."
TERMINAL_TOO = "Whoever uses this terminal can find all of it."
UNTIL_ADDED = "A channel that the bot is not in stays closed until somebody adds it there."


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
    everyone = f"Every full member of {_name_workspaces(channels, destination)}"
    said = [f"{everyone} can find what is in {pluralize(len(is_open), 'open channel')}."] if is_open else []
    if destination is not None:
        said += [_name_mapped(channel, destination) for channel in mapped]
        said += [TERMINAL_TOO, *_describe_left_out(len(closed) + len(direct))]
        return " ".join(said)
    said += [f"Only their own members can find what is in {pluralize(len(closed), 'other channel')}."] if closed else []
    conversations = pluralize(len(direct), "direct conversation")
    said += [f"Only the people in it can find what is in {conversations}."] if len(direct) == 1 else []
    said += [f"Only the people in each can find what is in {conversations}."] if len(direct) > 1 else []
    return " ".join([*said, TERMINAL_TOO, UNTIL_ADDED])


def _describe_left_out(count: int) -> list[str]:
    if not count:
        return []
    verb = "is" if count == 1 else "are"
    return [f"{pluralize(count, 'channel')} without readers there {verb} left out (--channel-map names them)."]


def _name_workspaces(channels: Sequence[Channel], destination: ImportDestination | None) -> str:
    if destination is not None:
        return f"{destination.platform}:{destination.workspace}"
    return " or ".join(sorted({channel.location.workspace_key for channel in channels}))


def _name_mapped(channel: Channel, destination: ImportDestination) -> str:
    target = destination.find_channel(channel)
    return f"Everyone in {target.channel if target else ''} can find what is in #{channel.name.removeprefix('#')}."
