"""Commands of managers for a channel: its settings, and back-fill of its history."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from bot.platform.events import BotAdded
from bot.platform.models import Card
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown
from engine import RetrievalMode
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.commands.context import CommandContext
    from bot.settings import Settings
    from bot.store import ChannelSettings

DEFAULT_VALUE = "default"  # resets a setting
MAX_VALUE_LENGTH = 200  # characters of a style or a language
CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": (*get_args(RetrievalMode), DEFAULT_VALUE),
    "reply-to": ("mention", "thread", "all", DEFAULT_VALUE),
    "ingest": ("on", "off"),
    "links": ("on", "off"),
}
DESCRIPTIONS: Mapping[str, str] = {
    "mode": "how sources are searched",
    "style": "how answers are written, in your own words",
    "language": "the language of answers",
    "reply-to": "what I reply to: mention, thread (also questions in my threads) or all (any question)",
    "ingest": "whether I read the messages and files of this channel",
    "links": "whether I read the public web pages that messages here link to",
}
SWITCHES = ("ingest", "links")
MAX_DAYS = 3650


async def settings_command(call: CommandContext) -> Card:
    """Show or change the settings of this channel."""
    await call.require_manager("see or change settings")
    name, _, value = call.arguments.partition(" ")
    alone = (await call.services.context.audience.get_channel(call.location)).kind == "direct"
    if alone and name.casefold() in SWITCHES:
        raise InvalidQuestion("In direct messages I only read the files you share, not the messages.")
    store, room = call.store.channel_settings, call.location.room
    now = await call.services.context.get_channel_settings(room)
    if not name:
        return Card(_format_settings(call, now, [each for each in DESCRIPTIONS if not (alone and each in SWITCHES)]))
    changed = _apply_change(now, name.casefold(), value.strip().strip('"“”'))
    if changed != now:
        await store.save(room, changed)
    if not changed.links and name.casefold() == "links":
        await call.services.ingest_service.links.forget_all(call.location)
    if changed.ingest and not now.ingest:
        return Card(await _enable_ingest(call))
    return Card(_format_change(call, name.casefold(), changed))


async def _enable_ingest(call: CommandContext) -> str:
    """Start to read a channel, and describe from when on."""
    rooms, days = call.store.channels, call.settings.backfill_days
    known = await rooms.is_announced(call.location.room)
    await call.services.ingest_service.handle(BotAdded(call.location.without_thread))
    if not await rooms.is_announced(call.location.room):
        return "I'll start reading this channel once I'm allowed to post here, because I announce it first."
    if known or not days:
        return f"I'm reading this channel from now on. {call.format_example('backfill')} fetches its history."
    return f"I'm reading this channel from now on, starting with the last {pluralize(days, 'day')}."


def _apply_change(now: ChannelSettings, name: str, value: str) -> ChannelSettings:
    """Parse one setting and return the changed settings. Raises InvalidQuestion."""
    if name not in DESCRIPTIONS:
        raise InvalidQuestion(f"There is no setting “{name}”.", hint=f"Settings: {', '.join(DESCRIPTIONS)}.")
    choices = CHOICES.get(name)
    word = value.casefold() if choices else value
    if not value or (choices and word not in choices):
        hint = f"Choose one of {', '.join(choices)}." if choices else f"Use a few words; “{DEFAULT_VALUE}” resets it."
        raise InvalidQuestion(
            f"“{value}” is not a value of “{name}”." if value else f"What should “{name}” be?", hint=hint
        )
    if len(value) > MAX_VALUE_LENGTH:
        raise InvalidQuestion(f"The value of “{name}” is too long.", hint=f"At most {MAX_VALUE_LENGTH} characters.")
    if name in SWITCHES:
        return replace(now, ingest=word == "on") if name == "ingest" else replace(now, links=word == "on")
    kept: dict[str, Any] = {_field_name(name): "" if word.casefold() == DEFAULT_VALUE else word}
    return replace(now, **kept)


def _field_name(name: str) -> str:
    return name.replace("-", "_")


def _format_settings(call: CommandContext, now: ChannelSettings, names: Iterable[str]) -> str:
    lines = ["**This channel**"]
    lines += [f"- `{name}` is {_format_value(now, name, call.settings)}: {DESCRIPTIONS[name]}" for name in names]
    lines += ["", f"To change one: {call.format_example('settings reply-to mention')}"]
    return "\n".join(lines)


def _format_value(now: ChannelSettings, name: str, settings_: Settings) -> str:
    if name in SWITCHES:
        return "**on**" if getattr(now, name) else "**off**"
    given = str(getattr(now, _field_name(name)))
    general = {"mode": settings_.retrieval_mode, "reply-to": settings_.reply_to}.get(name, "")
    return f"**{escape_markdown(given)}**" if given else f"**{general}** (by default)" if general else "not set"


def _format_change(call: CommandContext, name: str, now: ChannelSettings) -> str:
    if name != "ingest":
        return f"`{name}` is now {_format_value(now, name, call.settings)} in this channel."
    if now.ingest:
        return f"I already read this channel. {call.format_example('backfill')} fetches its history."
    stays = f"What I've already indexed stays; {call.format_example('forget')} removes single files and messages."
    return f"I've stopped reading this channel. {stays}"


async def backfill_command(call: CommandContext) -> Card:
    """Fetch the history of this channel, for the given number of days."""
    await call.require_manager("fetch the history of a channel")
    days = _parse_days(call.arguments, call.settings.backfill_days)
    if not (await call.services.context.get_channel_settings(call.location.room)).ingest:
        raise InvalidQuestion(
            "Reading is turned off in this channel.", hint=f"First: {call.format_example('settings ingest on')}"
        )
    await call.services.ingest_service.start_backfill(call.location.without_thread, days)
    return Card(
        f"I'm reading the last {pluralize(days, 'day')} of this channel. "
        f"{call.format_example('status')} shows the progress."
    )


def _parse_days(words: str, usual: int) -> int:
    first = words.partition(" ")[0] or str(usual or 1)
    if not (first.isascii() and first.isdigit() and 1 <= int(first) <= MAX_DAYS):
        raise InvalidQuestion(f"“{words}” is not a number of days.", hint=f"Enter a number from 1 to {MAX_DAYS}.")
    return int(first)
