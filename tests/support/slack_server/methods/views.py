"""views.publish and views.open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server import limits
from tests.support.slack_server.call import Call, method
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.state import View

if TYPE_CHECKING:
    from tests.support.slack_server.state import JSON

TITLE = 24


def _view(call: Call, kind: str) -> JSON:
    view = call.object("view")
    if view is None or view.get("type") != kind:
        raise SlackError("invalid_arguments", f"must be a view of type {kind} [json-pointer:/view/type]")
    blocks = view.get("blocks")
    if not isinstance(blocks, list):
        raise SlackError("invalid_arguments", "missing required field: blocks [json-pointer:/view]")
    limits.BlockValidator(call.slack.limits, view=True).check(blocks)
    if len(view.get("private_metadata", "")) > 3000:
        raise SlackError("invalid_arguments", "must be less than 3001 characters [json-pointer:/view/private_metadata]")
    return view


def view_json(team: str, view: View) -> JSON:
    """A view as it is told."""
    head: JSON = {"id": view.id, "team_id": team, "hash": view.hash, "state": {"values": {}}}
    return {**view.body, **head, "root_view_id": view.id, "previous_view_id": None}


def _save_view(call: Call, user: str, body: JSON) -> View:
    view = View(call.space.new_id("V"), user, body, call.space.new_ts())
    call.space.views[view.id] = view
    call.space.changed()
    return view


@method("views.publish", minute=100)
def publish(call: Call) -> JSON:
    user = call.require("user_id")
    if not call.space.app.has_home_tab:
        raise SlackError("not_enabled")
    call.space.user(user)
    body = _view(call, "home")
    before = call.space.homes.get(user)
    if call.text("hash") and before is not None and before.hash != call.text("hash"):
        raise SlackError("hash_conflict")
    view = _save_view(call, user, body)
    call.space.homes[user] = view
    return {"view": view_json(call.space.team, view)}


@method("views.open", minute=100)
def open_modal(call: Call) -> JSON:
    user = call.slack.interactions.exchange(call.require("trigger_id"))
    body = _view(call, "modal")
    title = body.get("title") or {}
    if not title.get("text") or len(title["text"]) > TITLE:
        raise SlackError(
            "invalid_arguments", f"must be less than {TITLE + 1} characters [json-pointer:/view/title/text]"
        )
    return {"view": view_json(call.space.team, _save_view(call, user, body))}
