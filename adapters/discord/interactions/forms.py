"""Render a form as a modal, and read what was filled in. Forms work after a restart: the custom id names them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord

from adapters.discord.replies.buttons import MAX_ID_LENGTH, decode_value, pack_value
from bot.text.excerpts import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bot.platform.forms import Form, FormField, FormOption

PREFIX = "tl-form"
MAX_TITLE_LENGTH, MAX_LABEL_LENGTH, MAX_DESCRIPTION_LENGTH = 45, 45, 100
MAX_OPTION_LENGTH, MAX_OPTIONS = 100, 25
MAX_INPUT_LENGTH = 4000
MODAL_LIFETIME = 15 * 60.0  # seconds for which the library remembers a modal; submissions work after that
ACTION_ROW, LABEL = 1, 18  # types of components that hold others

_CUSTOM_ID = re.compile(rf"{PREFIX}:([a-z-]+):(\d{{1,3}})/(\d{{1,3}}):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SubmittedModal:
    """What a submitted modal says: fields as in FormSubmitted."""

    form: str
    value: str
    answers: tuple[tuple[str, str], ...]
    part: int
    parts: int


def build_modal(form: Form) -> discord.ui.Modal | None:
    """Build the modal of a form; None if its private value is too long."""
    value = pack_value(form.value)
    custom_id = f"{PREFIX}:{form.name}:{form.part}/{form.parts}:{value}"
    if len(custom_id) > MAX_ID_LENGTH:
        return None
    title = shorten(form.numbered_title, MAX_TITLE_LENGTH)
    modal = discord.ui.Modal(title=title, timeout=MODAL_LIFETIME, custom_id=custom_id)
    if form.text:
        modal.add_item(discord.ui.TextDisplay(discord.utils.escape_markdown(form.text)))
    for field in form.fields:
        description = shorten(field.hint, MAX_DESCRIPTION_LENGTH) or None
        label = shorten(field.label, MAX_LABEL_LENGTH)
        modal.add_item(discord.ui.Label(text=label, description=description, component=_build_item(field)))
    return modal


def _build_item(field: FormField) -> discord.ui.Item[Any]:
    match field.kind:
        case "choice" | "switch":
            return _build_select(field, field.options[:MAX_OPTIONS])
        case "channel":
            return discord.ui.ChannelSelect(
                custom_id=field.name,
                required=field.required,
                min_values=int(field.required),
                default_values=[discord.Object(int(field.value), type=discord.abc.GuildChannel)] if field.value else [],
            )
    limit = min(field.max_length, MAX_INPUT_LENGTH)
    return discord.ui.TextInput(
        custom_id=field.name,
        style=discord.TextStyle.paragraph if field.kind == "long_text" else discord.TextStyle.short,
        default=field.value if 0 < len(field.value) <= limit else None,
        required=field.required,
        max_length=limit,
    )


def _build_select(field: FormField, options: Sequence[FormOption]) -> discord.ui.Select[Any]:
    shown = [
        discord.SelectOption(
            label=shorten(option.label, MAX_OPTION_LENGTH), value=option.value, default=option.value == field.value
        )
        for option in options
    ]
    return discord.ui.Select(
        custom_id=field.name, options=shown, required=field.required, min_values=int(field.required), max_values=1
    )


def parse_modal(data: Mapping[str, Any]) -> SubmittedModal | None:
    """Parse the data of a submitted modal; None if it is not the bot's."""
    found = _CUSTOM_ID.fullmatch(str(data.get("custom_id") or ""))
    if found is None:
        return None
    answers = tuple(_list_answers(data.get("components") or ()))
    return SubmittedModal(found[1], decode_value(found[4]), answers, int(found[2]), int(found[3]))


def _list_answers(components: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for component in components:
        if component.get("type") == ACTION_ROW:
            yield from _list_answers(component.get("components") or ())
        elif component.get("type") == LABEL:
            yield from _list_answers([component.get("component") or {}])
        elif name := component.get("custom_id"):
            chosen = component.get("values") or [""]
            yield str(name), str(component["value"] if "value" in component else chosen[0])
