"""Render a form as a modal view, and read what was filled in. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.slack.context import NAME
from adapters.slack.replies.blocks import ID_PREFIX
from bot.platform.forms import OFF, ON
from bot.platform.models import Location
from bot.text.excerpts import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.platform.forms import Form, FormField

    Json = dict[str, Any]

MAX_TITLE_LENGTH = 24  # characters of a title and of a button
MAX_OPTION_LENGTH, MAX_OPTIONS = 75, 100
MAX_INPUT_LENGTH = 3000  # characters that can be typed, and of a section
MAX_HINT_LENGTH = 2000
MAX_METADATA_LENGTH = 3000
CHANNEL_FILTER = {"include": ["public", "private"], "exclude_bot_users": True}


@dataclass(frozen=True, slots=True)
class FormOrigin:
    """Where and by whom a form was opened, kept in the view until it is submitted.

    `handle`: a response URL, which writes to that person.
    """

    location: Location
    person: str
    handle: str = ""


def build_view(form: Form, origin: FormOrigin) -> Json | None:
    """Build the modal view of a form; None if its private value is too long."""
    metadata = {
        "value": form.value,
        "channel": origin.location.channel,
        "thread": origin.location.thread,
        "person": origin.person,
        "handle": origin.handle,
        "part": form.part,
        "parts": form.parts,
    }
    text = json.dumps(metadata, ensure_ascii=False)
    if len(text) > MAX_METADATA_LENGTH:
        return None
    above = [{"type": "section", "text": _text(form.text, MAX_INPUT_LENGTH)}] if form.text else []
    return {
        "type": "modal",
        "callback_id": f"{ID_PREFIX}.{form.name}",
        "private_metadata": text,
        "title": _text(form.numbered_title, MAX_TITLE_LENGTH),
        "submit": _text(form.submit, MAX_TITLE_LENGTH),
        "close": _text(form.cancel, MAX_TITLE_LENGTH),
        "blocks": [*above, *map(_input_block, form.fields)],
    }


def _input_block(field: FormField) -> Json:
    block = {
        "type": "input",
        "block_id": field.name,
        "label": _text(field.label, MAX_HINT_LENGTH),
        "element": {"action_id": field.name, **_element(field)},
        "optional": not field.required or field.kind == "switch",  # an unchecked box is an answer, too
    }
    return {**block, "hint": _text(field.hint, MAX_HINT_LENGTH)} if field.hint else block


def _element(field: FormField) -> Json:
    initial: Json
    match field.kind:
        case "choice":
            options = [_option(choice.value, choice.label) for choice in field.options[:MAX_OPTIONS]]
            chosen = next((made for made in options if made["value"] == field.value), None)
            initial = {"initial_option": chosen} if chosen else {}
            return {"type": "static_select", "options": options, **initial}
        case "switch":
            option = next(_option(choice.value, choice.label) for choice in field.options if choice.value == ON)
            return {
                "type": "checkboxes",
                "options": [option],
                **({"initial_options": [option]} if field.value == ON else {}),
            }
        case "channel":
            initial = {"initial_conversation": field.value} if field.value else {}
            return {"type": "conversations_select", "filter": CHANNEL_FILTER, **initial}
    limit = min(field.max_length, MAX_INPUT_LENGTH)
    initial = {"initial_value": field.value} if 0 < len(field.value) <= limit else {}
    return {"type": "plain_text_input", "multiline": field.kind == "long_text", "max_length": limit, **initial}


def _option(value: str, label: str) -> Json:
    return {"value": value[:MAX_OPTION_LENGTH], "text": _text(label, MAX_OPTION_LENGTH)}


def _text(text: str, limit: int) -> Json:
    return {"type": "plain_text", "text": shorten(text, limit) or "…", "emoji": False}


def parse_form_name(callback_id: str) -> str:
    """The name of the form of a view or shortcut; empty if it is not the bot's."""
    prefix, _, name = callback_id.partition(".")
    return name if prefix == ID_PREFIX else ""


def parse_metadata(text: str) -> Mapping[str, Any]:
    """The private data of a view; empty if it is not the bot's."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def parse_origin(metadata: Mapping[str, Any], team: str, person: str) -> FormOrigin:
    """Where a form was opened, in the workspace that sent the submission; the handle if the same person submits it."""
    location = Location(NAME, team, str(metadata.get("channel") or ""), str(metadata.get("thread") or ""))
    return FormOrigin(location, person, str(metadata.get("handle") or "") if metadata.get("person") == person else "")


def parse_answers(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What was filled in, by the name of the field."""
    return tuple((name, _parse_answer(next(iter(states.values()), {}))) for name, states in values.items())


def _parse_answer(state: Mapping[str, Any]) -> str:
    match state.get("type"):
        case "static_select":
            return str((state.get("selected_option") or {}).get("value") or "")
        case "checkboxes":
            return ON if state.get("selected_options") else OFF
        case "conversations_select":
            return str(state.get("selected_conversation") or "")
    return str(state.get("value") or "")
