"""Who may manage a channel, post in it, and correct what is known in a space: in the chat and for access tokens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.permissions.audience import is_channel_room, parse_workspace_space, personal_space
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.permissions.resolver import AudienceResolver
    from bot.platform.models import Person


def is_workspace_manager(person: Person) -> bool:
    """Whether somebody manages their workspace; nobody does whose account is deactivated."""
    return person.is_manager and not person.is_deactivated


async def may_manage(audience: AudienceResolver, location: Location, person: str) -> bool:
    """Whether a person may manage a channel: managers of its workspace, and everyone in a direct message.

    Raises PlatformError.
    """
    if (await audience.get_channel(location)).kind == "direct":
        return True
    return is_workspace_manager(await audience.get_person_at(location, person))


async def may_post(audience: AudienceResolver, location: Location, person: str, *, said: bool | None = None) -> bool:
    """Whether a person may post in a channel; where the platform lists members, they must be one of them.

    `said`: whether the platform lets them post there; None if it did not say. Raises PlatformError.
    """
    members = (await audience.get_channel(location)).members
    return said is not False and bool(person in members if members else said)


async def list_correctable(
    audience: AudienceResolver, home: Location, person: str, spaces: Iterable[str]
) -> frozenset[str]:
    """Those of the spaces that a person reads in which they may correct the graph; not those that cannot be checked.

    `home`: their workspace.
    """
    listed = sorted(spaces)
    allowed = await asyncio.gather(*(_may_correct(audience, home, person, space) for space in listed))
    return frozenset(space for space, is_allowed in zip(listed, allowed, strict=True) if is_allowed)


async def _may_correct(audience: AudienceResolver, home: Location, person: str, space: str) -> bool:
    if space in {personal_space(home.platform, either, person) for either in ("", home.workspace)}:
        return True
    try:
        if (workspace := parse_workspace_space(space)) is not None:
            return is_workspace_manager(await audience.get_person(*workspace, person))
        return await may_manage(audience, Location.from_room(space), person)
    except PlatformError:
        return False


def room_of(space: str) -> str:
    """The channel whose own space this is, with which corrections move; "" for any other space."""
    return space if is_channel_room(space) else ""
