"""Interactions as the client of a person makes them: it offers only what exists, is allowed and is filled in."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from tests.support.discord_server.actions import store_file
from tests.support.discord_server.model import Channel, File, Interaction, InteractionType, Json, Message
from tests.support.discord_server.payloads import (
    attachment_json,
    channel_json,
    event_json,
    member_json,
    message_json,
    user_json,
)
from tests.support.discord_server.permissions import ALL, Permission, guild_permissions

if TYPE_CHECKING:
    from tests.support.discord_server.people.person import Person

PATIENCE_SECONDS = 3.0
SILENCE = "The application did not respond"
FAILED = "This interaction failed"
CHAT, MESSAGE_MENU = 1, 3
TEXT_INPUT, LABEL = 4, 18  # types of components


class ActionUnavailable(AssertionError):
    """The client of the platform would not let this person do that."""


async def slash(person: Person, channel: Channel, name: str, given: Json) -> Interaction:
    """Use a slash command with options; returns once the app has responded or the time is over."""
    command = _find_command(person, channel, name)
    data = _command_data(command) | _fill_options(person, channel, command, given)
    return await _send(person, channel, InteractionType.COMMAND, data, name=name)


async def autocomplete(person: Person, channel: Channel, name: str, option: str, typed: str) -> list[str]:
    """What is offered while an option is typed."""
    command = _find_command(person, channel, name)
    declared = next(each for each in command.get("options", []) if each["name"] == option)
    if not declared.get("autocomplete"):
        raise ActionUnavailable(f"the option {option} of /{name} offers nothing")
    focused = {"name": option, "type": declared["type"], "value": typed, "focused": True}
    data = _command_data(command) | {"options": [focused]}
    interaction = await _send(person, channel, InteractionType.AUTOCOMPLETE, data, name=name)
    return [choice["name"] for choice in interaction.choices]


async def menu(person: Person, target: Message, name: str) -> Interaction:
    """Use a command in the menu of a message."""
    command = _find_command(person, target.channel, name, kind=MESSAGE_MENU)
    resolved = {"messages": {target.id: message_json(target, person.world)}}
    data = _command_data(command) | {"target_id": target.id, "resolved": resolved}
    return await _send(person, target.channel, InteractionType.COMMAND, data, name=name)


async def click(person: Person, message: Message, button: str) -> Interaction:
    """Press a button, named by its label, emoji or custom id."""
    hidden = message.deleted or message.seen_by not in {"", person.id}
    if hidden or not person.can(message.channel, Permission.READ_MESSAGE_HISTORY):
        raise ActionUnavailable(f"{person.name} does not see that message")
    names = {
        name: component
        for row in message.components
        for component in row["components"]
        for name in _button_names(component)
    }
    found = names.get(button, {})
    if not found or found.get("disabled"):
        raise ActionUnavailable(f"the button {button!r} cannot be pressed, only {sorted(names)}")
    data = {"custom_id": found["custom_id"], "component_type": found["type"]}
    return await _send(person, message.channel, InteractionType.COMPONENT, data, message=message)


async def submit(person: Person, channel: Channel, modal: Json, answers: dict[str, str]) -> Interaction:
    """Submit a modal with these values of its fields, by custom id; the other fields stay as they were."""
    components = [
        {"type": LABEL, "component": _fill_in(component["component"], answers)}
        for component in modal["components"]
        if component["type"] == LABEL
    ]
    data = {"custom_id": modal["custom_id"], "components": components, "resolved": {}}
    return await _send(person, channel, InteractionType.MODAL, data)


def _fill_in(field: Json, answers: dict[str, str]) -> Json:
    name, known = field["custom_id"], {"type": field["type"], "custom_id": field["custom_id"]}
    if field["type"] == TEXT_INPUT:
        return {**known, "value": answers.get(name, field.get("value") or "")}
    before = [each["value"] for each in field.get("options", []) if each.get("default")]
    return {**known, "values": [answers[name]] if answers.get(name) else before}


def _button_names(button: Json) -> set[str]:
    names = {button.get("label"), button.get("custom_id"), (button.get("emoji") or {}).get("name")}
    return {name for name in names if name}


def _find_command(person: Person, channel: Channel, name: str, kind: int = CHAT) -> Json:
    """A command that the platform offers to a person in a channel."""
    offered = {
        command["name"]: command for command in person.world.commands.get("", {}).values() if command["type"] == kind
    }
    if name not in offered or not _is_allowed(person, offered[name], channel):
        raise ActionUnavailable(f"the command {name!r} is not offered to {person.name}, of {sorted(offered)}")
    if channel.thread is not None and channel.thread.archived:
        raise ActionUnavailable("there are no commands in archived threads")
    if not person.can(channel, Permission.USE_APPLICATION_COMMANDS):
        raise ActionUnavailable(f"{person.name} may not use commands in #{channel.name}")
    if channel.thread is not None and not person.can(channel, Permission.SEND_MESSAGES):
        raise ActionUnavailable(f"{person.name} may not send messages in the parent of {channel.name}")
    return offered[name]


def _is_allowed(person: Person, command: Json, channel: Channel) -> bool:
    contexts = command.get("contexts") or [0, 1, 2]
    if channel.guild is None:
        return 1 in contexts
    needed, have = command.get("default_member_permissions"), guild_permissions(channel.guild, person.member)
    return 0 in contexts and (needed is None or have == ALL or bool(int(needed) & int(have)))


def _command_data(command: Json) -> Json:
    return {"id": command["id"], "name": command["name"], "type": command["type"]}


def _fill_options(person: Person, channel: Channel, command: Json, given: Json) -> Json:
    """The options with their values, and the files that they refer to."""
    declared = {option["name"]: option for option in command.get("options", [])}
    missing = [name for name, option in declared.items() if option.get("required") and given.get(name) is None]
    if missing or given.keys() - declared:
        raise ActionUnavailable(f"/{command['name']} takes {sorted(declared)}, missing {missing}")
    filled: list[Json] = []
    files: Json = {}
    for name, option in declared.items():
        if (value := given.get(name)) is None:
            continue
        if isinstance(value, File):
            attachment = store_file(person.world, value, channel)
            files[attachment.id] = attachment_json(attachment, person.world)
        choices = {name: each["value"] for each in option.get("choices", []) for name in (each["name"], each["value"])}
        if choices and value not in choices:
            raise ActionUnavailable(f"{name} must be one of {sorted(choices)}")
        sent = attachment.id if isinstance(value, File) else choices.get(value, value)
        filled.append({"name": name, "type": option["type"], "value": sent})
    return {"options": filled, "resolved": {"attachments": files}}


async def _send(person: Person, channel: Channel, kind: InteractionType, data: Json, **facts: Any) -> Interaction:
    """Send an interaction to the app, and wait for its first response as long as the platform does."""
    world = person.world
    ident, token, now = world.ids.next(), secrets.token_urlsafe(64), world.clock.time()
    interaction = Interaction(ident, token, kind, person.user, channel, now, data=data, **facts)
    world.interactions[interaction.id] = interaction
    world.emit("INTERACTION_CREATE", _payload(interaction, person), 0)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await interaction.acked.wait()
    except TimeoutError:
        interaction.error = FAILED if kind is InteractionType.COMPONENT else SILENCE
    return interaction


def _payload(interaction: Interaction, person: Person) -> Json:
    """INTERACTION_CREATE."""
    world, channel, guild = person.world, interaction.channel, interaction.channel.guild
    powers = {"permissions": str(int(world.permissions_of(person.user, channel)))}
    payload: Json = {
        "id": interaction.id,
        "application_id": world.app.id,
        "type": int(interaction.kind),
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel_id": channel.id,
        "locale": person.user.locale,
        "channel": channel_json(channel, world.app.id) | powers,
        "app_permissions": str(int(world.permissions_of(world.app, channel))),
        "attachment_size_limit": 10 * 1024 * 1024,
    }
    if interaction.message is not None:
        payload["message"] = event_json(interaction.message, world)
        payload["message"].pop("member", None)
    if guild is None:
        return payload | {"context": 1, "user": user_json(person.user)}
    member = member_json(person.member) | powers
    return payload | {"context": 0, "guild_id": guild.id, "guild": {"id": guild.id}, "member": member}
