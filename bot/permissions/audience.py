"""Decide what a reply may use: only what each of its readers may read. Pure.

A space is named after its content: the open channels of a workspace (`chat:T1:open`), its age-restricted ones
(`chat:T1:adult`), one channel (its room), or what one person shared with the bot alone (`chat:T1:dm:U1`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bot.platform.models import Channel
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from bot.platform.models import ListedChannel, Location

EMPTY_SET: frozenset[str] = frozenset()
EMPTY_SCOPE = Scope(EMPTY_SET, EMPTY_SET)
_PERSONAL = ":dm:"


@dataclass(frozen=True, slots=True)
class SoleReader:
    """The only reader of a reply. `workspaces`: those of the person that the bot is in.

    `is_guest`: from another workspace, or without access to every open channel. `adult`: the reply is shown in an
    age-restricted channel.
    """

    id: str
    platform: str
    workspaces: frozenset[str]
    is_guest: bool = False
    adult: bool = False


GrantRule = Literal["member", "own", "workspace", "adult"]


@dataclass(frozen=True, slots=True)
class Grant:
    """A space, or a single room, that a person may read, and the rule that permits it.

    `member`: of the channel; `own`: shared with the bot by them alone; `workspace`: open to its full members; `adult`:
    open to those of them who see age-restricted channels.
    """

    rule: GrantRule
    space: str = ""
    room: str = ""


def home_space(channel: Channel | ListedChannel) -> str:
    """The space of a channel's documents."""
    location = channel.location
    if isinstance(channel, Channel) and channel.space:
        return channel.space
    if isinstance(channel, Channel) and channel.kind == "direct" and len(channel.members) == 1:
        return personal_space(location.platform, location.workspace, *channel.members)
    if channel.kind != "open" or channel.shared:
        return location.room
    return workspace_space(location.platform, location.workspace, adult=channel.adult)


def scope_for_channel(channel: Channel, others: Iterable[Channel] = ()) -> Scope:
    """What a reply for everyone in a channel may use.

    `others` are the workspace's known channels. They matter if guests can read an open channel: guests can read single
    rooms only, those that all of them have joined.
    """
    location = channel.location
    if channel.kind == "open" and channel.guests and not channel.shared:
        readable = (
            other for other in others if _is_workspace_open(other, location.workspace) and other.adult == channel.adult
        )
        rooms = {other.location.room for other in readable if channel.guests <= other.members}
        return Scope(EMPTY_SET, frozenset({location.room, *rooms}))
    if channel.shared or channel.guests or channel.kind == "direct":
        return Scope(frozenset({home_space(channel)}), EMPTY_SET)
    return Scope(
        frozenset({home_space(channel), workspace_space(location.platform, location.workspace, adult=channel.adult)}),
        EMPTY_SET,
    )


def scope_for_person(person: SoleReader, channels: Iterable[Channel]) -> Scope:
    """What a reply for one person may use; `channels` are the known ones of their workspaces."""
    return join_grants(list_grants(person, channels))


def list_grants(person: SoleReader, channels: Iterable[Channel]) -> list[Grant]:
    """What a person may read and by which rule; `channels` as in scope_for_person."""
    joined = [channel for channel in channels if person.id in channel.members and _is_visible_to(channel, person)]
    grants = [
        Grant("member", space=home_space(channel)) for channel in joined if channel.kind == "closed" or channel.shared
    ]
    workspaces = sorted(person.workspaces)
    grants += [
        Grant("own", space=personal_space(person.platform, workspace, person.id)) for workspace in ("", *workspaces)
    ]
    if person.is_guest:
        is_open = (any(_is_workspace_open(channel, name) for name in workspaces) for channel in joined)
        return grants + [
            Grant("member", room=each.location.room) for each, held in zip(joined, is_open, strict=True) if held
        ]
    grants += [Grant("workspace", space=workspace_space(person.platform, workspace)) for workspace in workspaces]
    if person.adult:
        grants += [
            Grant("adult", space=workspace_space(person.platform, workspace, adult=True)) for workspace in workspaces
        ]
    return grants


def join_grants(grants: Iterable[Grant]) -> Scope:
    """All that some grants permit to read."""
    given = list(grants)
    return Scope(frozenset(grant.space for grant in given) - {""}, frozenset(grant.room for grant in given) - {""})


def find_grant(grants: Iterable[Grant], space: str, room: str) -> Grant | None:
    """The first grant by which a room with its documents in a space can be read; None if it cannot be."""
    return next(
        (grant for grant in grants if scope_covers(join_grants([grant]), _room_alone(room), {room: space})), None
    )


@dataclass(frozen=True, slots=True)
class Readers:
    """Who can read something: every full member of a workspace by a rule ("" if not all can), and people by their ids.

    `people`: guests if every full member can, else all who can.
    """

    everyone: Literal["", "workspace", "adult"]
    people: frozenset[str]


def find_readers(used: Scope, homes: Mapping[str, str], asker: SoleReader, channels: Collection[Channel]) -> Readers:
    """Who can be told what rests on some spaces and rooms: the opposite question of `scope_for_person`.

    `homes`: as in scope_covers; `asker`: a full member, wherever people ask; `channels`: the rooms that are concerned.
    """
    is_open = scope_covers(scope_for_person(asker, ()), used, homes)
    guests = frozenset[str]().union(*(channel.guests for channel in channels))
    known = guests.union(*(channel.members for channel in channels), _list_owners({*used.spaces, *homes.values()}))
    candidates = (replace(asker, id=person, is_guest=person in guests) for person in known)
    reached = {
        person.id
        for person in candidates
        if (person.is_guest or not is_open) and scope_covers(scope_for_person(person, channels), used, homes)
    }
    talks = (channel for channel in channels if channel.kind == "direct" and not is_open)
    answered = (talk.members for talk in talks if scope_covers(scope_for_channel(talk), used, homes))
    is_adult = any(map(is_adult_space, {*used.spaces, *homes.values()}))
    rule: Literal["workspace", "adult"] = "adult" if is_adult else "workspace"
    return Readers(rule if is_open else "", frozenset(reached).union(*answered))


def _list_owners(spaces: Iterable[str]) -> set[str]:
    """The people of whom these are personal spaces."""
    return {space.rpartition(_PERSONAL)[2] for space in spaces if _PERSONAL in space}


def _room_alone(room: str) -> Scope:
    return Scope(EMPTY_SET, frozenset({room}))


def scope_for_room(location: Location) -> Scope:
    """What a reply to an unknown audience may use: only its own room."""
    return Scope(EMPTY_SET, frozenset({location.room}))


def scope_covers(scope: Scope, used: Scope, homes: Mapping[str, str]) -> bool:
    """Whether a scope covers everything that was used; `homes` are the current spaces of the rooms used.

    Access to the space named after a room is access to the room, in whichever space it is now.
    """
    rooms = used.rooms - named_rooms(scope)
    return used.spaces <= scope.spaces and all(homes.get(room) in scope.spaces for room in rooms)


def workspace_space(platform: str, workspace: str, *, adult: bool = False) -> str:
    """The space that every full member of a workspace may read."""
    return f"{platform}:{workspace}:{'adult' if adult else 'open'}"


def parse_workspace_space(space: str) -> tuple[str, str] | None:
    """The platform and workspace of a shared space; None for the space of a channel or a person."""
    platform, _, rest = space.partition(":")
    workspace, _, kind = rest.partition(":")
    return (platform, workspace) if kind in {"open", "adult"} else None


def is_adult_space(space: str) -> bool:
    """Whether it is the space of the age-restricted channels of a workspace."""
    return parse_workspace_space(space) is not None and space.endswith(":adult")


def workspace_of_space(space: str) -> str:
    """The workspace of any space, such as chat:T0123."""
    return ":".join(space.split(":", 2)[:2])


def personal_space(platform: str, workspace: str, person: str) -> str:
    """The space of what a person shared with the bot alone; `workspace` is empty where DMs belong to none."""
    return f"{platform}:{workspace}{_PERSONAL}{person}"


def is_channel_room(name: str) -> bool:
    """Whether a space or room is named after a channel."""
    return name.count(":") == 2 and parse_workspace_space(name) is None


def named_rooms(scope: Scope) -> frozenset[str]:
    """The rooms in a scope: single ones, and those with a space of their own."""
    return scope.spaces | scope.rooms


def _is_workspace_open(channel: Channel, workspace: str) -> bool:
    """Whether exactly the full members of this workspace may read it."""
    return channel.kind == "open" and not channel.shared and channel.location.workspace == workspace


def _is_visible_to(channel: Channel, person: SoleReader) -> bool:
    """Whether it belongs to the reader's workspaces, and is not age-restricted unless the reply is."""
    location = channel.location
    return (
        location.platform == person.platform
        and location.workspace in person.workspaces
        and channel.kind != "direct"
        and (person.adult or not channel.adult)
    )


@dataclass(frozen=True, slots=True)
class ResolvedScope:
    """What a reply may use, and why that may be less than its audience can read (`gap`; empty if it is not).

    `checking`: visibility is suspended until rooms are in their spaces; `partial`: some channels could not be looked
    up; `unknown`: the audience itself could not.
    """

    scope: Scope
    gap: Literal["", "checking", "partial", "unknown"] = ""
