"""Say who can find something, by the rules that decide what answers may use."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.capabilities.readers.requests import ReadersFound
from bot.capabilities.readers.targets import ReaderTarget, find_target
from bot.errors import PlatformError
from bot.permissions.audience import Readers, is_channel_room, named_rooms, parse_workspace_space, workspace_of_space
from bot.platform.models import Location
from bot.texts.overviews.readers import ReaderKind, describe_people, describe_reach

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import BotParts, Deps
    from bot.capabilities.readers.requests import FindReaders
    from bot.permissions.resolver import AudienceResolver
    from bot.platform.models import Channel, ListedChannel

MAX_NAMES = 30


async def find_readers(deps: Deps, caller: Caller, request: FindReaders) -> AsyncGenerator[ReadersFound]:
    """Yield who can find something of which the caller may know; managers are told names and numbers.

    Raises NotFound, InvalidQuestion, AmbiguousDocument and PlatformError.
    """
    target = await find_target(deps, caller, request)
    yield await describe_target(await deps.parts.open(), caller, target)


async def describe_target(parts: BotParts, caller: Caller, target: ReaderTarget) -> ReadersFound:
    """Who can find what lies in some spaces and rooms, all of which the caller reads. Raises PlatformError."""
    resolver = parts.access.find_audience(target.spaces)
    if resolver is None:
        return _describe_unconnected(target)
    workspaces = {workspace_of_space(space).rpartition(":")[2] for space in target.spaces}
    readers = await resolver.find_readers(target.used, target.homes, workspaces)
    channels = await _list_channels(resolver, target)
    text = describe_reach(_find_kind(readers, target, channels), [channel.name for channel in channels])
    if not await _sees_people(parts, caller) or _is_personal(target):
        return ReadersFound(text)
    names, count = await _find_names(resolver, target, readers), len(readers.people)
    people = describe_people(names, count, guests=bool(readers.everyone))
    return ReadersFound(f"{text} {people}".strip(), readers.everyone, count, names, people)


def _describe_unconnected(target: ReaderTarget) -> ReadersFound:
    """The readers of a space of the terminal, or of a workspace that is not connected now."""
    [space, *_] = sorted(target.spaces)
    workspace = parse_workspace_space(space)
    return ReadersFound(describe_reach("workspace" if workspace else "terminal", [] if workspace else [space]))


def _find_kind(readers: Readers, target: ReaderTarget, channels: list[Channel | ListedChannel]) -> ReaderKind:
    if _is_personal(target):
        return "own"
    if readers.everyone:
        return "guests" if readers.people and readers.everyone == "workspace" else readers.everyone
    return "shared" if len(channels) == 1 and channels[0].shared else "people"


def _is_personal(target: ReaderTarget) -> bool:
    return any(":dm:" in space for space in target.spaces)


async def _list_channels(resolver: AudienceResolver, target: ReaderTarget) -> list[Channel | ListedChannel]:
    """The channels whose members read it: those with a space of their own, and without any all that there are."""
    named = named_rooms(target.used).union(target.homes.values())
    rooms = [room for room in sorted(named) if is_channel_room(room)]
    own = [room for room in rooms if target.homes.get(room, room) == room]
    served = [Location.from_room(room) for room in own or rooms if room.partition(":")[0] in resolver.platforms]
    return list(await asyncio.gather(*map(resolver.get_channel_info, served)))


async def _sees_people(parts: BotParts, caller: Caller) -> bool:
    """Whether names and numbers are for the caller: of the owner of the data, and of managers."""
    if caller.kind != "person":
        return caller.is_owner
    with suppress(PlatformError):
        return await parts.access.is_manager(caller.subject)
    return False


async def _find_names(resolver: AudienceResolver, target: ReaderTarget, readers: Readers) -> tuple[str, ...]:
    """The names of some of the people, in their order; ids of those that cannot be looked up."""
    platform, _, workspace = workspace_of_space(min(target.spaces)).partition(":")

    async def find_name(person: str) -> str:
        with suppress(PlatformError):
            return (await resolver.get_person(platform, workspace, person)).name or person
        return person

    found = await asyncio.gather(*map(find_name, sorted(readers.people)[:MAX_NAMES]))
    return tuple(sorted(found, key=str.casefold))
