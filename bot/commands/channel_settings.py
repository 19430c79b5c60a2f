"""What managers decide for a channel: how it is answered, whether it is read, and from when on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from bot.cli.render.tables import counted
from bot.platform.events import Joined
from bot.platform.models import Card
from bot.text.markdown import plain
from engine.errors import BadQuestion
from engine.models import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bot.commands.context import Call
    from bot.settings import Settings
    from bot.store import ChannelSettings

DEFAULT = "default"  # takes a channel's own setting back
FREE = 200  # characters of a style or a language
CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": (*get_args(Mode), DEFAULT),
    "answers": ("mention", "thread", "all", DEFAULT),
    "ingest": ("on", "off"),
}
ABOUT: Mapping[str, str] = {
    "mode": "how questions are searched for",
    "style": "how answers are written, in your words",
    "language": "the language of answers",
    "answers": "what is answered: mention, thread (questions in my threads too) or all (any question)",
    "ingest": "whether messages and files of this channel are read",
}
MOST_DAYS = 3650


async def settings(call: Call) -> Card:
    """Show or change what holds for this channel."""
    await call.only_managers("see or change settings")
    name, _, value = call.words.partition(" ")
    alone = (await call.parts.house.readers.channel(call.place)).kind == "direct"
    if alone and name.casefold() == "ingest":
        raise BadQuestion("Alone with you I read the files that you share, and no messages.")
    store, room = call.store.channels, call.place.room
    now = await store.get(room)
    if not name:
        return Card(_shown(call, now, [each for each in ABOUT if not (alone and each == "ingest")]))
    changed = _changed(now, name.casefold(), value.strip().strip('"“”'))
    if changed != now:
        await store.put(room, changed)
    if changed.ingest and not now.ingest:
        return Card(await _switched_on(call))
    return Card(_said(call, name.casefold(), changed))


async def _switched_on(call: Call) -> str:
    """Have a channel read, and say from when on."""
    rooms, days = call.store.rooms, call.settings.backfill_days
    known = await rooms.announced(call.place.room)
    await call.parts.listening.take(Joined(call.place.main, call.called.person))
    if not await rooms.announced(call.place.room):
        return "I read this channel as soon as I may write here: there I say first that I do."
    if known or not days:
        return f"From now on I read this channel. {call.example('backfill')} fetches what was said before."
    return f"From now on I read this channel; I begin with the last {counted(days, 'day')}."


def _changed(now: ChannelSettings, name: str, value: str) -> ChannelSettings:
    """The settings with one of them changed. Raises BadQuestion."""
    if name not in ABOUT:
        raise BadQuestion(f"There is no setting “{name}”.", hint=f"Settings: {', '.join(ABOUT)}.")
    choices = CHOICES.get(name)
    word = value.casefold() if choices else value
    if not value or (choices and word not in choices):
        hint = (
            f"Choose one of {', '.join(choices)}." if choices else f"Say it in a few words; “{DEFAULT}” takes it back."
        )
        raise BadQuestion(f"“{name}” cannot be “{value}”." if value else f"What should “{name}” be?", hint=hint)
    if len(value) > FREE:
        raise BadQuestion(f"That is too long for “{name}”.", hint=f"{FREE} characters are enough.")
    if name == "ingest":
        return replace(now, ingest=word == "on")
    kept: dict[str, Any] = {name: "" if word.casefold() == DEFAULT else word}
    return replace(now, **kept)


def _shown(call: Call, now: ChannelSettings, names: Iterable[str]) -> str:
    lines = ["**This channel**"]
    lines += [f"- `{name}` is {_value(now, name, call.settings)}: {ABOUT[name]}" for name in names]
    lines += ["", f"Change one like this: {call.example('settings answers mention')}"]
    return "\n".join(lines)


def _value(now: ChannelSettings, name: str, settings_: Settings) -> str:
    if name == "ingest":
        return "**on**" if now.ingest else "**off**"
    given = str(getattr(now, name))
    general = {"mode": settings_.mode, "answers": settings_.answers}.get(name, "")
    return f"**{plain(given)}**" if given else f"**{general}** (by default)" if general else "not set"


def _said(call: Call, name: str, now: ChannelSettings) -> str:
    if name != "ingest":
        return f"From now on `{name}` is {_value(now, name, call.settings)} in this channel."
    if now.ingest:
        return f"I read this channel already. {call.example('backfill')} fetches what was said before."
    stays = f"What I know already stays; {call.example('forget')} removes single files and messages."
    return f"From now on I read nothing here. {stays}"


async def backfill(call: Call) -> Card:
    """Read what was said in this channel in the days before."""
    await call.only_managers("have a channel read from the past")
    days = _days(call.words, call.settings.backfill_days)
    if not (await call.store.channels.get(call.place.room)).ingest:
        raise BadQuestion("Reading is switched off here.", hint=f"First: {call.example('settings ingest on')}")
    await call.parts.listening.backfill(call.place.main, days)
    return Card(
        f"I read the last {counted(days, 'day')} of this channel now; {call.example('status')} tells how far I am."
    )


def _days(words: str, usual: int) -> int:
    first = words.partition(" ")[0] or str(usual or 1)
    if not (first.isascii() and first.isdigit() and 1 <= int(first) <= MOST_DAYS):
        raise BadQuestion(f"“{words}” is no number of days.", hint=f"From 1 to {MOST_DAYS}.")
    return int(first)
