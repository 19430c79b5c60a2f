"""Interactions as the platform's client makes them: it offers only what exists, is allowed and is filled in."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from tests.support.discord_server.component_rules import walk
from tests.support.discord_server.message_payloads import authorizing_owners, event_json, message_json
from tests.support.discord_server.model import Channel, Interaction, Json, Message
from tests.support.discord_server.options import FilledOptions, fill_options, find_command, refuse
from tests.support.discord_server.payloads import channel_json, member_json, user_json
from tests.support.discord_server.permissions import ALL, Permission, guild_permissions

if TYPE_CHECKING:
    from tests.support.discord_server.people import Person
    from tests.support.discord_server.world import World

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 2, 3, 4, 5
PATIENCE = 3.0
SILENCE = "The application did not respond"
FAILED = "This interaction failed"
ROW, BUTTON, LINK_STYLE = 1, 2, 5


async def slash(person: Person, channel: Channel, words: str, options: Json) -> Interaction:
    command, path, declared = find_command(person, channel, words)
    _check_place(person, channel)
    filled = fill_options(person, channel, declared, options)
    data = _command_data(command)
    if nested := _nested(path, filled.options):
        data["options"] = nested
    if filled.resolved:
        data["resolved"] = filled.resolved
    name = " ".join([command["name"], *(part["name"] for part in path)])
    return await _send(person, channel, COMMAND, data, name=name)


async def autocomplete(
    person: Person, channel: Channel, words: str, typing: tuple[str, str], others: Json
) -> list[str]:
    command, path, declared = find_command(person, channel, words)
    _check_place(person, channel)
    option, typed = typing
    wanted = next((one for one in declared if one["name"] == option), None)
    if wanted is None or not wanted.get("autocomplete"):
        raise refuse(f"the option {option} of /{words} offers nothing")
    filled: FilledOptions = fill_options(person, channel, declared, others, complete=False)
    filled.options.append({"name": option, "type": wanted["type"], "value": typed, "focused": True})
    data = _command_data(command) | {"options": _nested(path, filled.options)}
    interaction = await _send(person, channel, AUTOCOMPLETE, data, name=command["name"])
    return [choice["name"] for choice in interaction.choices]


async def click(person: Person, message: Message, button: str) -> Interaction:
    if message.deleted or (message.seen_by and message.seen_by != person.user.id):
        raise refuse(f"{person.user.name} does not see that message")
    if not message.seen_by and not person.can(message.channel, Permission.READ_MESSAGE_HISTORY):
        raise refuse(f"{person.user.name} cannot see #{message.channel.name}")
    found = next((one for one in walk(message.components) if button in _component_names(one)), None)
    if found is None:
        raise refuse(
            f"there is no button {button!r}, only {[_component_names(one) for one in walk(message.components)]}"
        )
    if found.get("disabled") or found.get("style") == LINK_STYLE:
        raise refuse(f"the button {button!r} cannot be pressed")
    data = {"custom_id": found["custom_id"], "component_type": found["type"], "id": found.get("id", 0)}
    return await _send(person, message.channel, COMPONENT, data, message=message)


async def menu(person: Person, channel: Channel, name: str, target: Message | Person) -> Interaction:
    of_message = isinstance(target, Message)
    place = target.channel if isinstance(target, Message) else channel
    command, _, _ = find_command(person, place, name, kind=3 if of_message else 2)
    _check_place(person, place)
    if isinstance(target, Message):
        resolved: Json = {"messages": {target.id: message_json(target, person.world)}}
    else:
        resolved = {
            "users": {target.id: user_json(target.user)},
            "members": {target.id: member_json(target.member, user=False)},
        }
    data = _command_data(command) | {"target_id": target.id, "resolved": resolved}
    return await _send(person, place, COMMAND, data, name=command["name"])


async def submit(person: Person, interaction: Interaction, values: dict[str, str]) -> Interaction:
    if interaction.modal is None:
        raise refuse("there is no form to fill in")
    rows = []
    for row in interaction.modal["components"]:
        inputs = [row["component"]] if "component" in row else row.get("components", [])
        answers = [{"type": one["type"], "custom_id": one["custom_id"], "value": _value(one, values)} for one in inputs]
        rows.append(
            {"type": row["type"]} | ({"component": answers[0]} if "component" in row else {"components": answers})
        )
    data = {"custom_id": interaction.modal["custom_id"], "components": rows}
    return await _send(person, interaction.channel, MODAL, data, message=interaction.message)


def _value(field: Json, values: dict[str, str]) -> str:
    value = values.get(field["custom_id"], field.get("value") or "")
    if field.get("required", True) and not value:
        raise refuse(f"the field {field['custom_id']} must be filled in")
    return value


async def _send(person: Person, channel: Channel, kind: int, data: Json, **facts: Any) -> Interaction:
    """Tell the app, and wait for its first response as long as the platform does."""
    world = person.world
    interaction = Interaction(
        world.ids.next(),
        secrets.token_urlsafe(64),
        kind,
        person.user,
        channel,
        world.clock.seconds(),
        data=data,
        **facts,
    )
    world.interactions[interaction.id] = interaction
    world.emit("INTERACTION_CREATE", interaction_payload(world, interaction, person), 0)
    try:
        async with asyncio.timeout(PATIENCE):
            await interaction.acked.wait()
    except TimeoutError:
        interaction.error = FAILED if kind in {COMPONENT, MODAL} else SILENCE
        world.notify_waiters()
    return interaction


def interaction_payload(world: World, interaction: Interaction, person: Person) -> Json:
    """INTERACTION_CREATE."""
    channel = interaction.channel
    about: Json = {
        "id": interaction.id,
        "application_id": world.app.id,
        "type": interaction.kind,
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel_id": channel.id,
        "channel": _partial_channel(world, channel, person),
        "app_permissions": str(
            int(world.permissions_of(world.app, channel) | Permission.ATTACH_FILES | Permission.EMBED_LINKS)
        ),
        "locale": "en-US",
        "entitlements": [],
        "authorizing_integration_owners": authorizing_owners(interaction),
        "attachment_size_limit": 10 * 1024 * 1024,
    }
    if channel.guild is not None:
        powers = str(int(world.permissions_of(person.user, channel)))
        about |= {
            "guild_id": channel.guild.id,
            "guild": {"id": channel.guild.id, "locale": "en-US", "features": ["COMMUNITY"]},
            "guild_locale": "en-US",
            "context": 0,
            "member": member_json(channel.guild.members[person.user.id]) | {"permissions": powers},
        }
    else:
        about |= {"context": 1, "user": user_json(person.user)}
    if interaction.message is not None:
        about["message"] = event_json(interaction.message, world)
        about["message"].pop("member", None)
    return about


def _partial_channel(world: World, channel: Channel, person: Person) -> Json:
    whole = channel_json(channel, world.app.id)
    whole.pop("permission_overwrites", None)
    if channel.guild is None:
        return whole
    return whole | {"permissions": str(int(world.permissions_of(person.user, channel)))}


def _command_data(command: Json) -> Json:
    data = {"id": command["id"], "name": command["name"], "type": command["type"]}
    return data | ({"guild_id": command["guild_id"]} if "guild_id" in command else {})


def _nested(path: list[Json], options: list[Json]) -> list[Json]:
    for part in reversed(path):
        options = [{"name": part["name"], "type": part["type"], "options": options}]
    return options


def _component_names(component: Json) -> set[str]:
    emoji = component.get("emoji") or {}
    names = {component.get("label"), component.get("custom_id"), emoji.get("name")}
    return {name for name in names if name} if component.get("type") != ROW else set()


def _check_place(person: Person, channel: Channel) -> None:
    """Commands need their own permission; in threads also the right to send messages in the parent."""
    if channel.guild is None:
        return
    if not person.can(channel, Permission.USE_APPLICATION_COMMANDS):
        raise refuse(f"{person.user.name} may not use commands in #{channel.name}")
    if channel.thread is not None:
        if channel.thread.archived:
            raise refuse("there are no commands in archived threads")
        if not person.can(channel, Permission.SEND_MESSAGES):
            raise refuse(f"{person.user.name} may not send messages in the parent of {channel.name}")


def is_command_allowed(person: Person, command: Json, channel: Channel) -> bool:
    """Whether the platform offers a command to somebody there."""
    needed = command.get("default_member_permissions")
    if channel.guild is None:
        return command.get("dm_permission", True) and 1 in (command.get("contexts") or [0, 1, 2])
    if 0 not in (command.get("contexts") or [0, 1, 2]) or (command.get("nsfw") and not channel.adult):
        return False
    have = guild_permissions(channel.guild, person.member)
    return have == ALL or needed is None or (int(needed) & int(have)) == int(needed) != 0
