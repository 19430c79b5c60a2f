"""What comes after the first response: followups, and edits of what was said, for fifteen minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.actions import change, remove
from tests.support.discord_server.drafts import draft_of
from tests.support.discord_server.errors import Refused
from tests.support.discord_server.interaction_routes import AUTOCOMPLETE, DEFER, speak
from tests.support.discord_server.message_payloads import message_json
from tests.support.discord_server.message_routes import check_left
from tests.support.discord_server.model import Flag, Interaction, Json, Message
from tests.support.discord_server.routing import NOTHING, Call, Reply, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

TOKEN_LIFE = 15 * 60.0
HOOK = "/webhooks/{app}/{token}"


def _of(world: World, call: Call) -> Interaction:
    found = next((one for one in world.interactions.values() if one.token == call["token"]), None)
    if call["app"] != world.app.id or found is None:
        raise Refused(10015)
    if world.clock.seconds() - found.started > TOKEN_LIFE:
        raise Refused(50027)
    if not found.response or found.kind == AUTOCOMPLETE:
        raise Refused(10015)
    if found.channel.deleted:
        raise Refused(10003)
    return found


def _message(world: World, call: Call) -> Message:
    found = _of(world, call)
    wanted = call["message"]
    if wanted == "@original":
        message = found.original
    else:
        mine = [found.original, *found.followups]
        message = next((one for one in mine if one is not None and one.id == wanted), None)
    if message is None or message.deleted:
        raise Refused(10008)
    return message


@on("POST", HOOK)
def follow_up(world: World, call: Call) -> Json:
    found = _of(world, call)
    draft = draft_of(call.body, call.files, flags=Flag.EPHEMERAL)
    if draft.empty:
        raise Refused(50006)
    if found.response == DEFER and found.original is not None and found.original.loading:
        return message_json(change(world, found.original, draft), world)
    message = speak(world, found, draft, private=Flag.EPHEMERAL in draft.flags, followup=True)
    found.followups.append(message)
    return message_json(message, world)


@on("GET", HOOK + "/messages/{message}")
def get(world: World, call: Call) -> Json:
    return message_json(_message(world, call), world)


@on("PATCH", HOOK + "/messages/{message}")
def edit(world: World, call: Call) -> Json:
    message = _message(world, call)
    draft = draft_of(call.body, call.files)
    if draft.allowed is None:
        draft.allowed = {"parse": ["users"]}
    check_left(message, draft)
    return message_json(change(world, message, draft), world)


@on("DELETE", HOOK + "/messages/{message}")
def delete(world: World, call: Call) -> Reply:
    remove(world, [_message(world, call)])
    return NOTHING
