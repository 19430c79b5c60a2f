"""Who will read a reply, and what it may therefore draw on: only what every one of them could read. Pure.

Spaces are named after what they hold: a workspace's open channels (`slack:T1:open`), its open age-restricted ones
(`discord:G1:adult`), one channel (its room), what one person gave the bot alone (`slack:T1:dm:U1`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Channel
from engine.models import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.platform.models import ListedChannel, Place

NOWHERE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sole:
    """Somebody who alone reads a reply. `workspaces`: those that they and the bot are in, as far as it is read there.

    `guest`: of another workspace, or not allowed to read every open channel. `adult`: it is read in an
    age-restricted channel.
    """

    id: str
    platform: str
    workspaces: frozenset[str]
    guest: bool = False
    adult: bool = False


def home(channel: Channel | ListedChannel) -> str:
    """The space that a channel's documents live in."""
    place = channel.place
    if isinstance(channel, Channel) and channel.kind == "direct" and len(channel.members) == 1:
        return own(place.platform, place.workspace, *channel.members)
    if channel.kind != "open" or channel.shared:
        return place.room
    return common(place.platform, place.workspace, adult=channel.adult)


def here(channel: Channel, others: Iterable[Channel] = ()) -> Scope:
    """What a reply may draw on that all readers of a channel see.

    `others` are the workspace's known channels; they matter where guests read an open one: what these can read are
    single rooms, in which every one of them is.
    """
    place = channel.place
    if channel.kind == "open" and channel.guests and not channel.shared:
        readable = (each for each in others if _plain(each, place.workspace) and each.adult == channel.adult)
        rooms = {each.place.room for each in readable if channel.guests <= each.members}
        return Scope(NOWHERE, frozenset({place.room, *rooms}))
    if channel.shared or channel.guests or channel.kind == "direct":
        return Scope(frozenset({home(channel)}), NOWHERE)
    return Scope(frozenset({home(channel), common(place.platform, place.workspace, adult=channel.adult)}), NOWHERE)


def alone(person: Sole, channels: Iterable[Channel]) -> Scope:
    """What a reply may draw on that one person alone sees; `channels` are the known ones of their workspaces."""
    joined = [each for each in channels if person.id in each.members and _seen(each, person)]
    spaces = {home(each) for each in joined if each.kind == "closed" or each.shared}
    spaces |= {own(person.platform, workspace, person.id) for workspace in ("", *person.workspaces)}
    if person.guest:
        rooms = {each.place.room for each in joined if any(_plain(each, name) for name in person.workspaces)}
        return Scope(frozenset(spaces), frozenset(rooms))
    for adult in {False, person.adult}:
        spaces |= {common(person.platform, workspace, adult=adult) for workspace in person.workspaces}
    return Scope(frozenset(spaces), NOWHERE)


def same_room(place: Place) -> Scope:
    """What a reply may draw on whose readers are not known: what was said where it is read."""
    return Scope(NOWHERE, frozenset({place.room}))


def covers(scope: Scope, drawn: Scope, homes: Mapping[str, str]) -> bool:
    """Whether all that was drawn on lies within a scope; `homes` are the present spaces of the rooms drawn on.

    Who may read the space that bears a room's name may read the room, wherever it lies now.
    """
    rooms = drawn.rooms - addressed(scope)
    return drawn.spaces <= scope.spaces and all(homes.get(room) in scope.spaces for room in rooms)


def common(platform: str, workspace: str, *, adult: bool = False) -> str:
    """The space of what every full member of a workspace may read."""
    return f"{platform}:{workspace}:{'adult' if adult else 'open'}"


def shared_by(space: str) -> tuple[str, str] | None:
    """The platform and the workspace whose channels share this space; None if it is one channel's or one person's."""
    platform, _, rest = space.partition(":")
    workspace, _, kind = rest.partition(":")
    return (platform, workspace) if kind in {"open", "adult"} else None


def own(platform: str, workspace: str, person: str) -> str:
    """The space of what a person gave the bot alone; where such talk belongs to no workspace, that is empty."""
    return f"{platform}:{workspace}:dm:{person}"


def addressed(scope: Scope) -> frozenset[str]:
    """The rooms that a scope names: single ones, and those whose own space bears their name."""
    return scope.spaces | scope.rooms


def _plain(channel: Channel, workspace: str) -> bool:
    """Whether every full member of this workspace may read it, and nobody else."""
    return channel.kind == "open" and not channel.shared and channel.place.workspace == workspace


def _seen(channel: Channel, person: Sole) -> bool:
    """Whether it belongs to where the reply is read: to these workspaces, and age-restricted only among themselves."""
    place = channel.place
    return (
        place.platform == person.platform
        and place.workspace in person.workspaces
        and channel.kind != "direct"
        and (person.adult or not channel.adult)
    )
