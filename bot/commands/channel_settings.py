"""What managers decide for a channel: how it is answered, whether it is read, and from when on."""

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

DEFAULT_VALUE = "default"  # takes a channel's own setting back
MAX_VALUE_LENGTH = 200  # characters of a style or a language
CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": (*get_args(RetrievalMode), DEFAULT_VALUE),
    "reply-to": ("mention", "thread", "all", DEFAULT_VALUE),
    "ingest": ("on", "off"),
}
DESCRIPTIONS: Mapping[str, str] = {
    "mode": "how questions are searched for",
    "style": "how answers are written, in your words",
    "language": "the language of answers",
    "reply-to": "what I reply to: mention, thread (also questions in my threads) or all (any question)",
    "ingest": "whether messages and files of this channel are read",
}
MAX_DAYS = 3650


async def settings_command(call: CommandContext) -> Card:
    """Show or change what holds for this channel."""
    await call.require_manager("see or change settings")
    name, _, value = call.arguments.partition(" ")
    alone = (await call.services.context.audience.get_channel(call.location)).kind == "direct"
    if alone and name.casefold() == "ingest":
        raise InvalidQuestion("Alone with you I read the files that you share, and no messages.")
    store, room = call.store.channel_settings, call.location.room
    now = await call.services.context.get_channel_settings(room)
    if not name:
        return Card(_format_settings(call, now, [each for each in DESCRIPTIONS if not (alone and each == "ingest")]))
    changed = _apply_change(now, name.casefold(), value.strip().strip('"“”'))
    if changed != now:
        await store.save(room, changed)
    if changed.ingest and not now.ingest:
        return Card(await _enable_ingest(call))
    return Card(_format_change(call, name.casefold(), changed))


async def _enable_ingest(call: CommandContext) -> str:
    """Have a channel read, and say from when on."""
    rooms, days = call.store.channels, call.settings.backfill_days
    known = await rooms.is_announced(call.location.room)
    await call.services.ingest_service.handle(BotAdded(call.location.without_thread, call.invocation.person))
    if not await rooms.is_announced(call.location.room):
        return "I read this channel as soon as I may write here: there I say first that I do."
    if known or not days:
        return f"From now on I read this channel. {call.format_example('backfill')} fetches what was said before."
    return f"From now on I read this channel; I begin with the last {pluralize(days, 'day')}."


def _apply_change(now: ChannelSettings, name: str, value: str) -> ChannelSettings:
    """The settings with one of them changed. Raises InvalidQuestion."""
    if name not in DESCRIPTIONS:
        raise InvalidQuestion(f"There is no setting “{name}”.", hint=f"Settings: {', '.join(DESCRIPTIONS)}.")
    choices = CHOICES.get(name)
    word = value.casefold() if choices else value
    if not value or (choices and word not in choices):
        hint = (
            f"Choose one of {', '.join(choices)}."
            if choices
            else f"Say it in a few words; “{DEFAULT_VALUE}” takes it back."
        )
        raise InvalidQuestion(f"“{name}” cannot be “{value}”." if value else f"What should “{name}” be?", hint=hint)
    if len(value) > MAX_VALUE_LENGTH:
        raise InvalidQuestion(f"That is too long for “{name}”.", hint=f"{MAX_VALUE_LENGTH} characters are enough.")
    if name == "ingest":
        return replace(now, ingest=word == "on")
    kept: dict[str, Any] = {_field_name(name): "" if word.casefold() == DEFAULT_VALUE else word}
    return replace(now, **kept)


def _field_name(name: str) -> str:
    return name.replace("-", "_")


def _format_settings(call: CommandContext, now: ChannelSettings, names: Iterable[str]) -> str:
    lines = ["**This channel**"]
    lines += [f"- `{name}` is {_format_value(now, name, call.settings)}: {DESCRIPTIONS[name]}" for name in names]
    lines += ["", f"Change one like this: {call.format_example('settings reply-to mention')}"]
    return "\n".join(lines)


def _format_value(now: ChannelSettings, name: str, settings_: Settings) -> str:
    if name == "ingest":
        return "**on**" if now.ingest else "**off**"
    given = str(getattr(now, _field_name(name)))
    general = {"mode": settings_.retrieval_mode, "reply-to": settings_.reply_to}.get(name, "")
    return f"**{escape_markdown(given)}**" if given else f"**{general}** (by default)" if general else "not set"


def _format_change(call: CommandContext, name: str, now: ChannelSettings) -> str:
    if name != "ingest":
        return f"From now on `{name}` is {_format_value(now, name, call.settings)} in this channel."
    if now.ingest:
        return f"I read this channel already. {call.format_example('backfill')} fetches what was said before."
    stays = f"What I know already stays; {call.format_example('forget')} removes single files and messages."
    return f"From now on I read nothing here. {stays}"


async def backfill_command(call: CommandContext) -> Card:
    """Read what was said in this channel in the days before."""
    await call.require_manager("have a channel read from the past")
    days = _parse_days(call.arguments, call.settings.backfill_days)
    if not (await call.services.context.get_channel_settings(call.location.room)).ingest:
        raise InvalidQuestion(
            "Reading is switched off here.", hint=f"First: {call.format_example('settings ingest on')}"
        )
    await call.services.ingest_service.start_backfill(call.location.without_thread, days)
    return Card(
        f"I'm reading the last {pluralize(days, 'day')} of this channel. {call.format_example('status')} tells how far."
    )


def _parse_days(words: str, usual: int) -> int:
    first = words.partition(" ")[0] or str(usual or 1)
    if not (first.isascii() and first.isdigit() and 1 <= int(first) <= MAX_DAYS):
        raise InvalidQuestion(f"“{words}” is no number of days.", hint=f"From 1 to {MAX_DAYS}.")
    return int(first)
