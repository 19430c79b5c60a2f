"""Import an export of a workspace, for whom it may be read, and wait until it is indexed."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.ingest.estimates import estimate_export
from bot.capabilities.ingest.progress import wait_until_indexed
from bot.capabilities.results import Completed, HistoryImportResult, ImportedPlace, ProgressUpdate
from bot.errors import BadSetting
from bot.permissions.import_destination import parse_destination
from bot.platform.export_readers import ExportOptions, list_adapter_names, load_export_reader
from bot.text.format import pluralize
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import ImportHistory
    from bot.capabilities.results import OperationResult
    from bot.permissions.import_destination import ImportDestination
    from bot.platform.history_source import HistorySource
    from bot.platform.models import Channel


TERMINAL_ALONE = "Only whoever uses this terminal can find this: no platform says who else may read it."
TERMINAL_TOO = "Whoever uses this terminal can find all of it."
UNTIL_ADDED = "A channel that the bot is not in stays closed until somebody adds it there."


async def import_history(deps: Deps, _caller: Caller, request: ImportHistory) -> AsyncGenerator[OperationResult]:
    """Import new messages, edits and files of an export; a second run continues an interrupted one.

    On request only estimate what it takes.
    """
    began = deps.clock.monotonic()
    destination = _parse_destination(request)
    options = ExportOptions(request.workspace, request.url, request.direct_messages)
    open_export = load_export_reader(request.platform)
    source = await asyncio.to_thread(open_export, Path(request.path), options, clock=deps.clock)
    try:
        if destination is not None:
            _check_channels(source, destination)
        is_served = request.platform in list_adapter_names()
        readers = describe_import_readers(source.list_channels(), destination, is_served=is_served)
        yield Completed(readers)
        if request.estimate:
            async for step in estimate_export(deps, source):
                yield step
            return
        async with (await deps.parts.open()).ingest.open_import(source, destination) as running:
            stats, total = running.stats, len(source.list_channels())
            yield ProgressUpdate("importing", 0, total)
            places: dict[str, dict[str, None]] = {}
            async for channel in running.run():
                places.setdefault(channel.location.workspace_key, {})[channel.name] = None
                yield ProgressUpdate(
                    "importing", stats.channels, total, remaining=f"{stats.seen:,} messages, now #{channel.name}"
                )
        async for step in wait_until_indexed(deps.engine, Scope.of(*running.spaces), "indexing"):
            yield step
    finally:
        source.close()
    omissions = Counter(stats.omissions) + Counter(source.omissions)  # without those that did not happen
    yield HistoryImportResult(
        stats.channels,
        stats.seen,
        stats.new,
        stats.edited,
        stats.files,
        deps.clock.monotonic() - began,
        tuple(sorted(omissions.items())),
        (*stats.omissions.list_all(), *source.omissions.list_all()),
        tuple(ImportedPlace(key, tuple(names)) for key, names in sorted(places.items())),
        readers,
    )


def _parse_destination(request: ImportHistory) -> ImportDestination | None:
    """Where the person who imports says that it is read; None if the platform says it. Raises BadSetting."""
    served = list_adapter_names()
    if not request.into:
        if request.channel_map:
            raise BadSetting("--channel-map needs --into.")
        return None
    if request.platform in served:
        raise BadSetting(f"{request.platform.title()} says itself who reads its channels: import without --into.")
    return parse_destination(request.into, request.channel_map, served)


def _check_channels(source: HistorySource, destination: ImportDestination) -> None:
    """Raise BadSetting if the channels are of several workspaces, or lack one that is mapped."""
    channels = source.list_channels()
    workspaces = sorted({channel.location.workspace for channel in channels} - {""})
    if len(workspaces) > 1:
        raise BadSetting(f"The export has several teams: {', '.join(workspaces)}.", hint="Choose one with --workspace.")
    unknown = sorted(set(destination.channels) - {channel.name.casefold() for channel in channels})
    if unknown:
        raise BadSetting(f"The export has no channel “{unknown[0]}”.", hint="Correct --channel-map.")


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
