"""views.open: a modal for the person whose interaction gave the trigger, within three seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.slack_server.methods.call import Call, method
from tests.support.slack_server.state import SlackError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.slack_server.state import JSON

TRIGGER_SECONDS = 3.0
LIMITS = {"title": 24, "submit": 24, "close": 24}
INPUTS = frozenset({"plain_text_input", "static_select", "checkboxes", "conversations_select"})
MAX_METADATA, MAX_BLOCKS, MAX_INPUT, MAX_LABEL, MAX_OPTIONS = 3000, 100, 3000, 2000, 100


@method("views.open", minute=100)
def open_view(call: Call) -> JSON:
    space, view = call.space, call.object("view") or {}
    user, given = space.triggers.pop(call.text("trigger_id"), ("", 0.0))
    if not user:
        raise SlackError("invalid_trigger_id")
    if space.clock.time() - given > TRIGGER_SECONDS:
        raise SlackError("expired_trigger_id")
    if faults := list(_find_faults(view)):
        raise SlackError("invalid_arguments", *faults)
    extra = {"id": space.new_id("V"), "team_id": space.team, "app_installed_team_id": space.team}
    space.modals[user] = {**view, **extra}
    space.changed()
    return {"view": space.modals[user]}


def _find_faults(view: JSON) -> Iterator[str]:
    if view.get("type") != "modal":
        yield "must be a view of type modal [json-pointer:/view/type]"
    for name, most in LIMITS.items():
        if not 0 < len(view.get(name, {}).get("text", "")) <= most:
            yield f"must be 1 to {most} characters [json-pointer:/view/{name}]"
    if len(view.get("private_metadata", "")) > MAX_METADATA:
        yield f"must be less than {MAX_METADATA + 1} characters [json-pointer:/view/private_metadata]"
    blocks = view.get("blocks") or []
    ids = [each["block_id"] for each in blocks if "block_id" in each]
    if not 0 < len(blocks) <= MAX_BLOCKS or len(ids) != len(set(ids)):
        yield "1 to 100 blocks with distinct ids [json-pointer:/view/blocks]"
    for number, block in enumerate(blocks):
        yield from _find_block_faults(block, f"/view/blocks/{number}")


def _find_block_faults(block: JSON, where: str) -> Iterator[str]:
    if block.get("type") == "section":
        if not 0 < len(block["text"]["text"]) <= MAX_INPUT:
            yield f"must be 1 to {MAX_INPUT} characters [json-pointer:{where}/text]"
        return
    element = block.get("element") or {}
    if block.get("type") != "input" or element.get("type") not in INPUTS:
        yield f"unsupported type [json-pointer:{where}]"
    for name in ("label", "hint"):
        if name in block and not 0 < len(block[name]["text"]) <= MAX_LABEL:
            yield f"must be 1 to {MAX_LABEL} characters [json-pointer:{where}/{name}]"
    if element.get("max_length", 1) > MAX_INPUT or len(element.get("initial_value", "")) > element.get("max_length", 0):
        yield f"too long [json-pointer:{where}/element]"
    options = element.get("options", [{"value": "x"}])
    chosen = [*element.get("initial_options", []), *filter(None, [element.get("initial_option")])]
    if not 0 < len(options) <= MAX_OPTIONS or any(each not in options for each in chosen):
        yield f"must be one of the options [json-pointer:{where}/element/initial_option]"
