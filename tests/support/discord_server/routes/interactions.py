"""Routes of commands and interactions: a first response within three seconds, then fifteen minutes for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server import actions
from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.model import Interaction, InteractionType, Json, Message, MessageFlag, MessageType
from tests.support.discord_server.payloads import message_json
from tests.support.discord_server.routes.limits import (
    AllowedMentions,
    CommandSet,
    Draft,
    Modal,
    Suggestions,
    check,
    parse_draft,
)
from tests.support.discord_server.routes.messages import check_not_empty
from tests.support.discord_server.routing import ApiCall, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

HOOK = "/webhooks/{app}/{token}"
SEND, DEFER, DEFER_UPDATE, SUGGEST, MODAL = 4, 5, 6, 8, 9
FITTING = {
    InteractionType.COMMAND: {SEND, DEFER, MODAL},
    InteractionType.COMPONENT: {SEND, DEFER, DEFER_UPDATE, MODAL},
    InteractionType.MODAL: {SEND, DEFER, DEFER_UPDATE},
    InteractionType.AUTOCOMPLETE: {SUGGEST},
}
FIRST_RESPONSE_SECONDS = 3.0
TOKEN_SECONDS = 15 * 60.0


@on("PUT", "/applications/{app}/commands")
def overwrite_commands(world: World, call: ApiCall) -> list[Json]:
    """Replace all commands; those with a known name keep their ids."""
    commands = check(CommandSet, {"commands": call.body}).raw("commands")
    known = {(command["type"], command["name"]): command for command in world.commands.get("", {}).values()}
    stored: list[Json] = []
    for sent in commands:
        old = known.get((sent.get("type", 1), sent["name"]))
        kept = {"id": old["id"] if old else world.ids.next(), "version": world.ids.next()}
        stored.append({"type": 1, "description": ""} | sent | kept | {"application_id": world.app.id})
    world.commands[""] = {command["id"]: command for command in stored}
    return stored


@on("POST", "/interactions/{interaction}/{token}/callback")
def respond(world: World, call: ApiCall) -> Json:
    found = world.interactions.get(call["interaction"])
    if found is None or found.token != call["token"]:
        raise ApiError(10062)
    if found.response:
        raise ApiError(40060)
    took = world.clock.time() - found.started
    if found.error or took > FIRST_RESPONSE_SECONDS:
        raise ApiError(10062)
    kind = call.body["type"]
    if kind not in FITTING[found.kind]:
        raise invalid_form("type", "INTERACTION_RESPONSE_TYPE_INVALID", f"Value must be one of {FITTING[found.kind]}.")
    _respond(world, found, kind, call)
    found.response, found.took = kind, took
    found.acked.set()
    return {"interaction": {"id": found.id, "type": int(found.kind)}, "resource": {"type": kind}}


def _respond(world: World, found: Interaction, kind: int, call: ApiCall) -> None:
    data = call.body.get("data") or {}
    if kind == SUGGEST:
        found.choices = check(Suggestions, data).raw("choices")
    elif kind == MODAL:
        found.modal = check(Modal, data).model_dump()
    elif kind == DEFER_UPDATE:
        found.original = found.message
    else:
        found.original = _post_response(world, found, parse_draft(data, call.files), loading=kind == DEFER)


def _post_response(
    world: World, found: Interaction, draft: Draft, *, loading: bool = False, followup: bool = False
) -> Message:
    """Post a response; it pings only people unless it says otherwise."""
    if draft.empty and not loading:
        raise ApiError(50006)
    message = actions.build_message(world, found.channel, world.app)
    message.interaction, message.followup = found, followup
    message.seen_by = found.user.id if draft.ephemeral else ""
    message.flags = MessageFlag.EPHEMERAL if draft.ephemeral else MessageFlag.NONE
    message.flags |= MessageFlag.LOADING if loading else MessageFlag.NONE
    replied = found.original if followup else found.message
    if replied is not None:
        actions.set_reference(message, replied)
    elif found.kind is InteractionType.COMMAND:
        message.kind = MessageType.COMMAND if found.data["type"] == 1 else MessageType.CONTEXT_MENU
    _limit_pings(draft)
    return actions.post_message(world, message, draft)


def _limit_pings(draft: Draft) -> None:
    if draft.allowed_mentions is None:
        draft.allowed_mentions = AllowedMentions(parse=["users"])


def _find_interaction(world: World, call: ApiCall) -> Interaction:
    found = next((one for one in world.interactions.values() if one.token == call["token"]), None)
    if call["app"] != world.app.id or found is None:
        raise ApiError(10015)
    if world.clock.time() - found.started > TOKEN_SECONDS:
        raise ApiError(50027)
    if not found.response or found.kind is InteractionType.AUTOCOMPLETE:
        raise ApiError(10015)
    if found.channel.deleted:
        raise ApiError(10003)
    return found


def _find_message(world: World, call: ApiCall) -> Message:
    found = _find_interaction(world, call)
    mine = {message.id: message for message in (found.original, *found.followups) if message is not None}
    wanted = (mine | {"@original": found.original}).get(call["message"])
    if wanted is None or wanted.deleted:
        raise ApiError(10008)
    return wanted


@on("POST", HOOK)
def follow_up(world: World, call: ApiCall) -> Json:
    """Send one more message; right after a deferred response it fills that one."""
    found = _find_interaction(world, call)
    draft = parse_draft(call.body, call.files)
    if found.response == DEFER and found.original is not None and found.original.loading:
        check_not_empty(found.original, draft)
        return message_json(actions.edit_message(world, found.original, draft), world)
    message = _post_response(world, found, draft, followup=True)
    found.followups.append(message)
    return message_json(message, world)


@on("PATCH", HOOK + "/messages/{message}")
def edit_response(world: World, call: ApiCall) -> Json:
    message = _find_message(world, call)
    draft = parse_draft(call.body, call.files)
    _limit_pings(draft)
    check_not_empty(message, draft)
    return message_json(actions.edit_message(world, message, draft), world)


@on("DELETE", HOOK + "/messages/{message}")
def delete_response(world: World, call: ApiCall) -> None:
    actions.delete_messages(world, [_find_message(world, call)])
