"""Commands as the client offers them, and their options as somebody fills them in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.discord_server.actions import store_file
from tests.support.discord_server.model import Channel, File, Json, Role
from tests.support.discord_server.payloads import attachment_json, channel_json, member_json, role_json, user_json

if TYPE_CHECKING:
    from tests.support.discord_server.people import Person

SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(1, 12)
MOST_STRING = 6000


@dataclass(slots=True)
class FilledOptions:
    """Options with their values, and what those ids stand for."""

    options: list[Json] = field(default_factory=list)
    resolved: Json = field(default_factory=dict)


def refuse(words: str) -> AssertionError:
    """What the client would not let somebody do."""
    from tests.support.discord_server.people import ActionUnavailable  # noqa: PLC0415 - people are made of this

    return ActionUnavailable(words)


def find_command(person: Person, channel: Channel, words: str, kind: int = 1) -> tuple[Json, list[Json], list[Json]]:
    """A command by what is typed: itself, the sub-commands on the way, the options to fill in."""
    from tests.support.discord_server.interaction_client import is_command_allowed  # noqa: PLC0415 - each half knows the other

    names = words.split() if kind == 1 else [words]
    sets = [channel.guild.id, ""] if channel.guild is not None else [""]
    offered = [one for key in sets for one in person.world.commands.get(key, {}).values() if one["type"] == kind]
    command = next((one for one in offered if one["name"] == names[0]), None)
    if command is None:
        raise refuse(f"there is no command {names[0]!r}, only {sorted(one['name'] for one in offered)}")
    if not is_command_allowed(person, command, channel):
        raise refuse(f"the command {names[0]!r} is not offered to {person.user.name} there")
    path: list[Json] = []
    declared: list[Json] = command.get("options") or []
    for name in names[1:]:
        part = next((one for one in declared if one["name"] == name and one["type"] in {SUBCOMMAND, GROUP}), None)
        if part is None:
            raise refuse(f"/{words}: there is no sub-command {name!r}")
        path.append(part)
        declared = part.get("options") or []
    if any(one["type"] in {SUBCOMMAND, GROUP} for one in declared):
        raise refuse(f"/{words} needs a sub-command: {[one['name'] for one in declared]}")
    return command, path, declared


def fill_options(
    person: Person, channel: Channel, declared: list[Json], given: Json, *, complete: bool = True
) -> FilledOptions:
    """Fill in options as the client does; `complete`: all required ones must be there."""
    unknown = set(given) - {option["name"] for option in declared}
    if unknown:
        raise refuse(f"there are no options {sorted(unknown)}, only {[option['name'] for option in declared]}")
    filled = FilledOptions()
    for option in declared:
        value = given.get(option["name"])
        if value is None:
            if complete and option.get("required"):
                raise refuse(f"the option {option['name']} must be filled in")
            continue
        wire = _value(person, channel, option, value, filled)
        filled.options.append({"name": option["name"], "type": option["type"], "value": wire})
    return filled


def _value(person: Person, channel: Channel, option: Json, value: Any, filled: FilledOptions) -> Any:
    kind, name = option["type"], option["name"]
    if option.get("choices"):
        return _choice(option, value)
    if kind == STRING:
        least, most = option.get("min_length", 0), option.get("max_length", MOST_STRING)
        if not isinstance(value, str) or not least <= len(value) <= most:
            raise refuse(f"{name} must be a text of {least} to {most} characters")
        return value
    if kind == BOOLEAN and isinstance(value, bool):
        return value
    if kind in {INTEGER, NUMBER} and isinstance(value, int | float):
        if not option.get("min_value", value) <= value <= option.get("max_value", value):
            raise refuse(f"{name} is out of bounds")
        return value
    if kind == ATTACHMENT and isinstance(value, File):
        attachment = store_file(person.world, value, channel, ephemeral=True)
        _resolve(filled, "attachments", attachment.id, attachment_json(attachment, person.world))
        return attachment.id
    return _reference(person, kind, name, value, filled)


def _reference(person: Person, kind: int, name: str, value: Any, filled: FilledOptions) -> str:
    """A person, a channel or a role."""
    world = person.world
    if kind == CHANNEL and isinstance(value, Channel):
        whole = channel_json(value, world.app.id)
        whole.pop("permission_overwrites", None)
        _resolve(
            filled, "channels", value.id, whole | {"permissions": str(int(world.permissions_of(person.user, value)))}
        )
        return value.id
    if kind in {ROLE, MENTIONABLE} and isinstance(value, Role):
        _resolve(filled, "roles", value.id, role_json(value))
        return value.id
    if kind in {USER, MENTIONABLE} and hasattr(value, "member"):
        _resolve(filled, "users", value.id, user_json(value.user))
        _resolve(filled, "members", value.id, member_json(value.member, user=False))
        return str(value.id)
    raise refuse(f"{name} cannot be {value!r}")


def _choice(option: Json, value: Any) -> Any:
    for choice in option["choices"]:
        if value in {choice["name"], choice["value"]}:
            return choice["value"]
    raise refuse(f"{option['name']} must be one of {[choice['name'] for choice in option['choices']]}")


def _resolve(filled: FilledOptions, kind: str, ident: str, payload: Json) -> None:
    filled.resolved.setdefault(kind, {})[ident] = payload
