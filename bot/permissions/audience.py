"""Who will read a reply, and what it may therefore draw on: only what every one of them could read. Pure.

Spaces are named after what they hold: a workspace's open channels (`chat:T1:open`), its open age-restricted ones
(`chat:T1:adult`), one channel (its room), what one person shared with the bot alone (`chat:T1:dm:U1`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.platform.models import Channel
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.platform.models import ListedChannel, Location

EMPTY_SET: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SoleReader:
    """Somebody who alone reads a reply. `workspaces`: those that they and the bot are in, as far as it is read there.

    `guest`: of another workspace, or not allowed to read every open channel. `adult`: it is read in an
    age-restricted channel.
    """

    id: str
    platform: str
    workspaces: frozenset[str]
    is_guest: bool = False
    adult: bool = False


def home_space(channel: Channel | ListedChannel) -> str:
    """The space that a channel's documents live in."""
    place = channel.location
    if isinstance(channel, Channel) and channel.kind == "direct" and len(channel.members) == 1:
        return personal_space(place.platform, place.workspace, *channel.members)
    if channel.kind != "open" or channel.shared:
        return place.room
    return workspace_space(place.platform, place.workspace, adult=channel.adult)


def scope_for_channel(channel: Channel, others: Iterable[Channel] = ()) -> Scope:
    """What a reply may draw on that all readers of a channel see.

    `others` are the workspace's known channels; they matter where guests read an open one: what these can read are
    single rooms, in which every one of them is.
    """
    place = channel.location
    if channel.kind == "open" and channel.guests and not channel.shared:
        readable = (
            each for each in others if _is_workspace_open(each, place.workspace) and each.adult == channel.adult
        )
        rooms = {each.location.room for each in readable if channel.guests <= each.members}
        return Scope(EMPTY_SET, frozenset({place.room, *rooms}))
    if channel.shared or channel.guests or channel.kind == "direct":
        return Scope(frozenset({home_space(channel)}), EMPTY_SET)
    return Scope(
        frozenset({home_space(channel), workspace_space(place.platform, place.workspace, adult=channel.adult)}),
        EMPTY_SET,
    )


def scope_for_person(person: SoleReader, channels: Iterable[Channel]) -> Scope:
    """What a reply may draw on that one person alone sees; `channels` are the known ones of their workspaces."""
    joined = [each for each in channels if person.id in each.members and _is_visible_to(each, person)]
    spaces = {home_space(each) for each in joined if each.kind == "closed" or each.shared}
    spaces |= {personal_space(person.platform, workspace, person.id) for workspace in ("", *person.workspaces)}
    if person.is_guest:
        rooms = {
            each.location.room for each in joined if any(_is_workspace_open(each, name) for name in person.workspaces)
        }
        return Scope(frozenset(spaces), frozenset(rooms))
    for adult in {False, person.adult}:
        spaces |= {workspace_space(person.platform, workspace, adult=adult) for workspace in person.workspaces}
    return Scope(frozenset(spaces), EMPTY_SET)


def scope_for_room(place: Location) -> Scope:
    """What a reply may draw on whose readers are not known: what was said where it is read."""
    return Scope(EMPTY_SET, frozenset({place.room}))


def scope_covers(scope: Scope, drawn: Scope, homes: Mapping[str, str]) -> bool:
    """Whether all that was drawn on lies within a scope; `homes` are the present spaces of the rooms drawn on.

    Who may read the space that bears a room's name may read the room, wherever it lies now.
    """
    rooms = drawn.rooms - named_rooms(scope)
    return drawn.spaces <= scope.spaces and all(homes.get(room) in scope.spaces for room in rooms)


def workspace_space(platform: str, workspace: str, *, adult: bool = False) -> str:
    """The space of what every full member of a workspace may read."""
    return f"{platform}:{workspace}:{'adult' if adult else 'open'}"


def parse_workspace_space(space: str) -> tuple[str, str] | None:
    """The platform and the workspace whose channels share this space; None if it is one channel's or one person's."""
    platform, _, rest = space.partition(":")
    workspace, _, kind = rest.partition(":")
    return (platform, workspace) if kind in {"open", "adult"} else None


def personal_space(platform: str, workspace: str, person: str) -> str:
    """The space of what a person gave the bot alone; where such talk belongs to no workspace, that is empty."""
    return f"{platform}:{workspace}:dm:{person}"


def named_rooms(scope: Scope) -> frozenset[str]:
    """The rooms that a scope names: single ones, and those whose own space bears their name."""
    return scope.spaces | scope.rooms


def _is_workspace_open(channel: Channel, workspace: str) -> bool:
    """Whether every full member of this workspace may read it, and nobody else."""
    return channel.kind == "open" and not channel.shared and channel.location.workspace == workspace


def _is_visible_to(channel: Channel, person: SoleReader) -> bool:
    """Whether it belongs to where the reply is read: to these workspaces, and age-restricted only among themselves."""
    place = channel.location
    return (
        place.platform == person.platform
        and place.workspace in person.workspaces
        and channel.kind != "direct"
        and (person.adult or not channel.adult)
    )


@dataclass(frozen=True, slots=True)
class ResolvedScope:
    """What a reply may draw on, and why that may be less than its readers can read; `gap` is empty if it is not.

    `checking`: spaces are suspended until rooms lie where they belong; `partial`: some channels could not be looked
    up; `unknown`: the readers themselves could not.
    """

    scope: Scope
    gap: Literal["", "checking", "partial", "unknown"] = ""
