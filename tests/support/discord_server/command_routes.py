"""Routes about application commands: the global set, and one per guild."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.command_rules import check_all, check_command
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on

if TYPE_CHECKING:
    from tests.support.discord_server.model import Json
    from tests.support.discord_server.world import World

DAY = 24 * 3600
MOST_CREATES = 200
EVERYWHERE = ""


def _set(world: World, call: ApiCall) -> tuple[str, dict[str, Json]]:
    """The guild of the route ("" for global commands), and its commands by id."""
    if call["app"] != world.app.id:
        raise ApiError(10002 if not call["app"].isdigit() else 20012, status=403, message="Not authorized")
    guild = call.params.get("guild", EVERYWHERE)
    if guild:
        found = world.guilds.get(guild)
        if found is None or world.app.id not in found.members:
            raise ApiError(50001)
    return guild, world.commands.setdefault(guild, {})


def _store(world: World, guild: str, wanted: Json, old: Json | None) -> Json:
    """A command as the platform keeps it; one that is not there yet is a creation."""
    if old is None:
        _count_creation(world, guild)
    same = old is not None and all(old.get(key) == value for key, value in wanted.items())
    base: Json = {
        "type": 1,
        "description": "",
        "default_member_permissions": None,
        "nsfw": False,
        "contexts": None,
        "integration_types": [0],
    }
    return (
        base
        | {key: value for key, value in wanted.items() if value is not None}
        | {
            "id": old["id"] if old else world.ids.next(),
            "application_id": world.app.id,
            "version": old["version"] if same and old else world.ids.next(),
        }
        | ({"guild_id": guild} if guild else {})
    )


def _count_creation(world: World, guild: str) -> None:
    now = world.clock.seconds()
    recent = [moment for moment in world.creates.get(guild, []) if now - moment < DAY]
    if len(recent) >= MOST_CREATES:
        raise ApiError(30034)
    world.creates[guild] = [*recent, now]


def _named(commands: dict[str, Json], wanted: Json) -> Json | None:
    key = (wanted.get("type", 1), wanted["name"])
    return next((one for one in commands.values() if (one["type"], one["name"]) == key), None)


def overwrite(world: World, call: ApiCall) -> list[Json]:
    guild, commands = _set(world, call)
    wanted = call.body.get("_", [])
    check_all(wanted)
    kept = [_store(world, guild, one, _named(commands, one)) for one in wanted]
    world.commands[guild] = {command["id"]: command for command in kept}
    return kept


def listing(world: World, call: ApiCall) -> list[Json]:
    return list(_set(world, call)[1].values())


def create(world: World, call: ApiCall) -> ApiReply:
    guild, commands = _set(world, call)
    check_command(call.body, "command")
    old = _named(commands, call.body)
    command = _store(world, guild, call.body, old)
    commands[command["id"]] = command
    check_all(list(commands.values()))
    return ApiReply(200 if old else 201, command)


def get(world: World, call: ApiCall) -> Json:
    _, commands = _set(world, call)
    if call["command"] not in commands:
        raise ApiError(10063)
    return commands[call["command"]]


def edit(world: World, call: ApiCall) -> Json:
    guild, commands = _set(world, call)
    old = get(world, call)
    wanted = old | call.body
    check_command(wanted, "command")
    commands[old["id"]] = _store(world, guild, wanted, old)
    return commands[old["id"]]


def delete(world: World, call: ApiCall) -> ApiReply:
    _, commands = _set(world, call)
    del commands[get(world, call)["id"]]
    return NOTHING


for base in ("/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"):
    on("PUT", base)(overwrite)
    on("GET", base)(listing)
    on("POST", base)(create)
    on("GET", base + "/{command}")(get)
    on("PATCH", base + "/{command}")(edit)
    on("DELETE", base + "/{command}")(delete)
