"""Change the settings of a channel, and describe what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.settings.fields import ALL_CONTENT, DEFAULT_VALUE, EVERYONE, FIELDS, apply_value, get_value
from bot.errors import PermissionDenied
from bot.i18n import N_, gettext
from bot.permissions.askers import list_groups, list_people
from bot.platform.events import BotAdded
from bot.platform.models import Button, Card
from bot.store import FILES_ONLY, MESSAGES_ONLY
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import PersonAtPlace
    from bot.commands.settings.fields import SettingField
    from bot.store import ChannelSettings

NOT_IN_DIRECT_MESSAGES = N_("In direct messages I only read the files you share, not the messages.")
NO_ASKERS_HERE = N_("In direct messages only you can ask me.")


async def list_fields(call: PersonAtPlace) -> list[SettingField]:
    """The fields that apply where a command was sent."""
    alone = (await call.services.context.audience.get_channel(call.location)).kind == "direct"
    return [field for field in FIELDS.values() if not (alone and field.group == "reading")]


async def change_settings(call: PersonAtPlace, values: Mapping[str, str]) -> Card:
    """Change settings of this channel at once, all or none, and describe the result. Raises InvalidQuestion."""
    now = await call.services.context.get_channel_settings(call.location.room)
    changed = await parse_settings(call, now, values)
    if changed != now:
        await call.store.channel_settings.save(call.location.room, changed)
    if "links" in values and not changed.links:
        await call.services.ingest_service.links.forget_all(call.location)
    lines = [await _describe_change(call, FIELDS[name], now, changed) for name in values]
    stopped = _find_unread(now, changed)
    if stopped is None:
        return Card("\n".join(lines))
    lines.append(
        gettext("What I've already indexed stays; {command} removes single files and messages.").format(
            command=call.format_example("forget")
        )
    )
    return Card("\n".join(lines), buttons=(Button(gettext("Forget it all"), "forget", f"channel {stopped}".strip()),))


async def parse_settings(call: PersonAtPlace, now: ChannelSettings, values: Mapping[str, str]) -> ChannelSettings:
    """The settings with these values, typed by a person. Raises InvalidQuestion."""
    known = {field.name for field in await list_fields(call)}
    for name, value in values.items():
        if name in FIELDS and name not in known:
            raise InvalidQuestion(NO_ASKERS_HERE if name == "askers" else NOT_IN_DIRECT_MESSAGES)
        now = apply_value(now, name, value, call.settings)
        if name == "askers":
            await _check_askers(call, now.askers)
    return now


async def _check_askers(call: PersonAtPlace, askers: str) -> None:
    """Raise InvalidQuestion for a mention of nobody who can ask, or of a group whose members are not visible."""
    context, location = call.services.context, call.location
    for person in list_people(askers):
        found = await context.audience.get_person_at(location, person)
        if found.is_bot:
            raise InvalidQuestion(gettext("{name} is a bot.").format(name=escape_markdown(found.name)))
    platform = context.platform_for(location)
    for group in list_groups(askers):
        try:
            await platform.is_in_group(location.workspace, call.person, group)
        except PermissionDenied as error:
            raise InvalidQuestion(
                gettext("I can't see who is in that group."), hint=gettext("Mention the people instead.")
            ) from error


async def format_value(call: PersonAtPlace, field: SettingField, now: ChannelSettings) -> str:
    """The value of a field, or the bot's own setting."""
    value = get_value(now, field)
    general = find_default(call, field)
    if field.name == "askers" and value not in field.choices:
        value = await format_askers(call, value)
    is_default = value == DEFAULT_VALUE or (value == general and DEFAULT_VALUE not in field.choices)
    if value and not is_default:
        return f"**{escape_markdown(value)}**"
    return (
        gettext("**{general}** (by default)").format(general=escape_markdown(general))
        if general
        else gettext("not set")
    )


async def format_askers(call: PersonAtPlace, askers: str) -> str:
    """The names of the people and groups who may ask."""
    return await call.services.context.platform_for(call.location).to_plain_text(call.location.workspace, askers)


def find_default(call: PersonAtPlace, field: SettingField) -> str:
    """The value for channels that have none of their own."""
    settings = call.settings
    defaults = {
        "mode": settings.retrieval_mode,
        "reply-to": settings.reply_to,
        "model": settings.llm_model,
        "askers": EVERYONE,
        "ingest": "on" if call.traits.reads_by_default else "off",
        "content": ALL_CONTENT,
        "bot-messages": "on" if settings.index_bot_messages else "off",
        "links": "off",
        "suggestions": "on" if settings.suggestions else "off",
    }
    return defaults.get(field.name, "")


async def _describe_change(
    call: PersonAtPlace, field: SettingField, before: ChannelSettings, now: ChannelSettings
) -> str:
    if field.name != "ingest":
        return gettext("`{name}` is now {value} in this channel.").format(
            name=field.name, value=await format_value(call, field, now)
        )
    if not now.ingest:
        return gettext("I've stopped reading this channel.")
    if before.ingest:
        return gettext("I already read this channel. {command} fetches its history.").format(
            command=call.format_example("backfill")
        )
    return await _enable_ingest(call)


async def _enable_ingest(call: PersonAtPlace) -> str:
    """Start to read a channel, and describe from when on."""
    rooms, days = call.store.channels, call.settings.backfill_days
    known = await rooms.is_announced(call.location.room)
    await call.services.ingest_service.handle(BotAdded(call.location.without_thread))
    if not await rooms.is_announced(call.location.room):
        return gettext("I'll start reading this channel once I'm allowed to post here, because I announce it first.")
    if known or not days:
        return gettext("I'm reading this channel from now on. {command} fetches its history.").format(
            command=call.format_example("backfill")
        )
    return pluralize(
        days,
        "I'm reading this channel from now on, starting with the last day.",
        "I'm reading this channel from now on, starting with the last {count} days.",
    )


def _find_unread(before: ChannelSettings, now: ChannelSettings) -> str | None:
    """What was read before and is not read now: messages, files, or both (empty); None if nothing."""
    was, reads = _read_kinds(before), _read_kinds(now)
    if not was - reads:
        return None
    return "" if not reads else next(iter(was - reads))


def _read_kinds(settings: ChannelSettings) -> set[str]:
    if not settings.ingest:
        return set()
    return {settings.content} if settings.content else {MESSAGES_ONLY, FILES_ONLY}
