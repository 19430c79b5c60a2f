"""What comes after the first response: followups, and edits of what was said, for fifteen minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.actions import delete_messages, edit_message
from tests.support.discord_server.drafts import parse_draft
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.interaction_routes import AUTOCOMPLETE, DEFER, post_response
from tests.support.discord_server.message_payloads import message_json
from tests.support.discord_server.message_routes import check_not_empty
from tests.support.discord_server.model import Interaction, Json, Message, MessageFlag
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

TOKEN_LIFE = 15 * 60.0
HOOK = "/webhooks/{app}/{token}"


def _resolve_interaction(world: World, call: ApiCall) -> Interaction:
    found = next((one for one in world.interactions.values() if one.token == call["token"]), None)
    if call["app"] != world.app.id or found is None:
        raise ApiError(10015)
    if world.clock.seconds() - found.started > TOKEN_LIFE:
        raise ApiError(50027)
    if not found.response or found.kind == AUTOCOMPLETE:
        raise ApiError(10015)
    if found.channel.deleted:
        raise ApiError(10003)
    return found


def _resolve_message(world: World, call: ApiCall) -> Message:
    found = _resolve_interaction(world, call)
    wanted = call["message"]
    if wanted == "@original":
        message = found.original
    else:
        mine = [found.original, *found.followups]
        message = next((one for one in mine if one is not None and one.id == wanted), None)
    if message is None or message.deleted:
        raise ApiError(10008)
    return message


@on("POST", HOOK)
def follow_up(world: World, call: ApiCall) -> Json:
    found = _resolve_interaction(world, call)
    draft = parse_draft(call.body, call.files, flags=MessageFlag.EPHEMERAL)
    if draft.empty:
        raise ApiError(50006)
    if found.response == DEFER and found.original is not None and found.original.loading:
        return message_json(edit_message(world, found.original, draft), world)
    message = post_response(world, found, draft, private=MessageFlag.EPHEMERAL in draft.flags, followup=True)
    found.followups.append(message)
    return message_json(message, world)


@on("GET", HOOK + "/messages/{message}")
def get(world: World, call: ApiCall) -> Json:
    return message_json(_resolve_message(world, call), world)


@on("PATCH", HOOK + "/messages/{message}")
def edit(world: World, call: ApiCall) -> Json:
    message = _resolve_message(world, call)
    draft = parse_draft(call.body, call.files)
    if draft.allowed is None:
        draft.allowed = {"parse": ["users"]}
    check_not_empty(message, draft)
    return message_json(edit_message(world, message, draft), world)


@on("DELETE", HOOK + "/messages/{message}")
def delete(world: World, call: ApiCall) -> ApiReply:
    delete_messages(world, [_resolve_message(world, call)])
    return NOTHING
