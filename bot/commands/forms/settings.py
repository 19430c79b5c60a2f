"""The settings of a channel as forms: how answers are written, and what is read and who may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.management.requests import ChangeChannel
from bot.commands.settings.changes import change_settings, find_default, format_askers, list_fields
from bot.commands.settings.fields import (
    DEFAULT_VALUE,
    FIELDS,
    FORM_TITLES,
    LABELS,
    MAX_VALUE_LENGTH,
    SWITCHES,
    get_value,
    list_choices,
)
from bot.i18n import N_, gettext
from bot.platform.forms import Form, FormField, FormOption, list_switch_options
from bot.platform.forms import find_errors as find_field_errors
from bot.platform.models import Card

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext, PersonAtPlace
    from bot.commands.settings.fields import SettingField
    from bot.store import ChannelSettings

NAMED_ASKERS = "named"  # the people and groups who may ask were mentioned in a command, and stay
NOTHING_CHANGED = N_("Nothing changed.")
_LIMITS = tuple(FormField(name, name, max_length=MAX_VALUE_LENGTH) for name, each in FIELDS.items() if each.is_text)
_SWITCHES = tuple(FormField(name, name, "switch") for name in SWITCHES)


async def build_form(call: CommandContext) -> Form | None:
    """Build the form of a group of settings, with their present values. Raises NotAllowed for all but managers."""
    group = call.arguments
    if group not in FORM_TITLES:
        return None  # a setting in words, or none
    await call.require_manager(gettext("see or change settings"))
    shown = await build_fields(call, group)
    return Form("settings", gettext(FORM_TITLES[group]), shown, group) if shown else None


async def build_fields(call: PersonAtPlace, group: str) -> tuple[FormField, ...]:
    """The fields of a group that have more than one value, with their present values."""
    now = await call.services.context.get_channel_settings(call.location.room)
    fields = [field for field in await list_fields(call) if field.group == group and _can_choose(call, field)]
    return tuple([await _build_field(call, field, now) for field in fields])


def find_errors(answers: Mapping[str, str]) -> Mapping[str, str]:
    """What is wrong with the texts and switches; choices depend on the channel."""
    return find_field_errors((*_LIMITS, *_SWITCHES), answers)


async def submit_form(call: CommandContext, answers: Mapping[str, str]) -> Card:
    """Save what was changed in the form, all or nothing. Raises EngineError."""
    changed = await _find_changes(call, answers)
    if not changed:
        return await save_changes(call, answers)
    async with call.recording(ChangeChannel(call.location.room, tuple(changed.items()))):
        return await save_changes(call, answers)


async def save_changes(call: PersonAtPlace, answers: Mapping[str, str]) -> Card:
    """Save those answers that differ from the present settings, all or nothing. Raises EngineError."""
    await call.require_manager(gettext("see or change settings"))
    changed = await _find_changes(call, answers)
    return await change_settings(call, changed) if changed else Card(gettext(NOTHING_CHANGED))


async def _find_changes(call: PersonAtPlace, answers: Mapping[str, str]) -> dict[str, str]:
    now = await call.services.context.get_channel_settings(call.location.room)
    changed = {name: answer.strip() for name, answer in answers.items() if answer.strip() != _shown_value(now, name)}
    return {name: answer or DEFAULT_VALUE for name, answer in changed.items()}


def _can_choose(call: PersonAtPlace, field: SettingField) -> bool:
    """Whether there is more than one value."""
    return field.is_text or len(list_choices(field, call.settings)) > 1


def _shown_value(now: ChannelSettings, name: str) -> str | None:
    """The value of a setting as a form shows it; None for an unknown one."""
    field = FIELDS.get(name)
    if field is None:
        return None
    value = get_value(now, field)
    return NAMED_ASKERS if name == "askers" and value not in field.choices else value


async def _build_field(call: PersonAtPlace, field: SettingField, now: ChannelSettings) -> FormField:
    name, label, hint = field.name, gettext(LABELS[field.name]), gettext(field.description)
    value = _shown_value(now, name) or ""
    if field.is_text:
        return FormField(name, label, value=value, hint=hint, max_length=MAX_VALUE_LENGTH)
    if name in SWITCHES:
        return FormField(name, label, "switch", value, list_switch_options(), hint, required=True)
    choices = list_choices(field, call.settings)
    options = [FormOption(choice, _label_choice(call, field, choice)) for choice in choices]
    if value == NAMED_ASKERS:
        options.append(FormOption(NAMED_ASKERS, await format_askers(call, now.askers)))
    elif value not in choices:  # a model that whoever runs the bot has removed
        value = DEFAULT_VALUE
    return FormField(name, label, "choice", value, tuple(options), hint, required=True)


def _label_choice(call: PersonAtPlace, field: SettingField, choice: str) -> str:
    general = find_default(call, field) if choice == DEFAULT_VALUE else ""
    return gettext("{general} (by default)").format(general=general) if general else choice
