"""The first response to an interaction: within three seconds, once, and of a type that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.actions import build_message, edit_message, post_message, set_reference
from tests.support.discord_server.command_rules import check_choices
from tests.support.discord_server.drafts import Draft, parse_draft
from tests.support.discord_server.errors import ApiError, invalid_form, missing_field
from tests.support.discord_server.message_payloads import message_json
from tests.support.discord_server.message_routes import check_not_empty
from tests.support.discord_server.model import Interaction, Json, Message, MessageFlag, MessageType
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 2, 3, 4, 5
SAY, DEFER, DEFER_UPDATE, UPDATE, SUGGEST, ASK = 4, 5, 6, 7, 8, 9
FITTING = {
    COMMAND: {SAY, DEFER, ASK},
    COMPONENT: {SAY, DEFER, DEFER_UPDATE, UPDATE, ASK},
    AUTOCOMPLETE: {SUGGEST},
    MODAL: {SAY, DEFER, DEFER_UPDATE, UPDATE},
}
FIRST_WITHIN = 3.0


@on("POST", "/interactions/{interaction}/{token}/callback")
def callback(world: World, call: ApiCall) -> ApiReply:
    found = world.interactions.get(call["interaction"])
    if found is None or found.token != call["token"]:
        raise ApiError(10062)
    if found.response:
        raise ApiError(40060)
    took = world.clock.seconds() - found.started
    if found.error or took > FIRST_WITHIN:
        raise ApiError(10062)
    kind = call.body.get("type")
    if kind not in FITTING[found.kind]:
        choices = ", ".join(map(str, sorted(FITTING[found.kind])))
        raise invalid_form("type", "INTERACTION_RESPONSE_TYPE_INVALID", f"Value must be one of {{{choices}}}.")
    if kind in {DEFER_UPDATE, UPDATE} and found.message is None:
        raise invalid_form("type", "INTERACTION_RESPONSE_TYPE_INVALID", "There is no message to update")
    _respond(world, found, kind, call)
    found.response, found.took = kind, took
    found.acked.set()
    world.notify_waiters()
    if call.query.get("with_response") not in {"1", "true", "True"}:
        return NOTHING
    return ApiReply(200, _emit_response(world, found))


def _respond(world: World, found: Interaction, kind: int, call: ApiCall) -> None:
    data = call.body.get("data") or {}
    if kind == SAY:
        draft = parse_draft(data, call.files, flags=MessageFlag.EPHEMERAL)
        if draft.empty:
            raise ApiError(50006)
        found.original = post_response(world, found, draft, private=MessageFlag.EPHEMERAL in draft.flags)
    elif kind == DEFER:
        flags = MessageFlag(data.get("flags") or 0) & MessageFlag.EPHEMERAL
        found.original = post_response(world, found, Draft(flags=MessageFlag.LOADING), private=bool(flags))
    elif kind == UPDATE:
        assert found.message is not None
        draft = parse_draft(data, call.files)
        check_not_empty(found.message, draft)
        found.original = edit_message(world, found.message, draft, by_author=False)
    elif kind == DEFER_UPDATE:
        found.original = found.message
    elif kind == SUGGEST:
        check_choices(data.get("choices"), "data.choices")
        found.choices = data["choices"]
    else:
        _check_modal(data)
        found.modal = data


def post_response(world: World, found: Interaction, draft: Draft, *, private: bool, followup: bool = False) -> Message:
    """A message of the app that answers an interaction; it pings people only, unless it says otherwise."""
    message = build_message(world, found.channel, world.app)
    message.interaction, message.followup = found, followup
    message.seen_by = found.user.id if private else ""
    message.flags = MessageFlag.EPHEMERAL if private else MessageFlag(0)
    if followup and found.original is not None:
        message.kind = MessageType.REPLY
        set_reference(message, found.original)
    elif found.kind == COMMAND:
        message.kind = MessageType.COMMAND if found.data.get("type", 1) == 1 else MessageType.CONTEXT_MENU
    elif found.message is not None:
        message.kind = MessageType.REPLY
        set_reference(message, found.message)
    draft.flags &= ~MessageFlag.EPHEMERAL
    draft.allowed = {"parse": ["users"]} if draft.allowed is None else draft.allowed
    return post_message(world, message, draft)


def _emit_response(world: World, found: Interaction) -> Json:
    about: Json = {"id": found.id, "type": found.kind}
    resource: Json = {"type": found.response}
    if found.original is not None:
        about |= {
            "response_message_id": found.original.id,
            "response_message_loading": found.original.loading,
            "response_message_ephemeral": bool(found.original.seen_by),
        }
        if found.response in {SAY, UPDATE}:
            resource["message"] = message_json(found.original, world)
    return {"interaction": about, "resource": resource}


def _check_modal(data: Json) -> None:
    for name, most in (("custom_id", 100), ("title", 45)):
        if not data.get(name):
            raise missing_field(f"data.{name}")
        if len(data[name]) > most:
            raise invalid_form(f"data.{name}", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {most} in length.")
    if not 1 <= len(data.get("components") or []) <= 5:
        raise invalid_form("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
