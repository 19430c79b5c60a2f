"""Slash commands and buttons → what happens, in the bot's words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.events.translate import TranslatedEvent
from adapters.slack.identity import NAME
from adapters.slack.replies.blocks import parse_action
from bot.platform.events import ButtonPressed, CommandInvoked, QuestionAsked
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from adapters.slack.identity import BotIdentity


def parse_command(body: Mapping[str, Any], us: BotIdentity, known: Collection[str], now: datetime) -> TranslatedEvent:
    """A slash command: `ask` and several words that begin with no command of the bot (`known`) are a question.

    Nothing at all, and a single word that is not known, ask for help.
    """
    text = str(body.get("text") or "").strip()
    word, _, rest = text.partition(" ")
    name = word.lower()
    known_id = str(body.get("trigger_id") or f"{body.get('user_id')}:{now.timestamp()}")
    place = Location(NAME, us.team, str(body.get("channel_id") or ""), str(body.get("thread_ts") or ""))
    person, handle = str(body.get("user_id") or ""), str(body.get("response_url") or "")
    key = (f"{NAME}:command:{known_id}",)
    asks = name == "ask" or (name not in known and rest)
    if not asks or not rest.strip():
        called = name if name in known else "help"
        return TranslatedEvent(
            CommandInvoked(known_id, place, person, called, rest.strip(), handle=handle, time=now), key
        )
    question = rest.strip() if name == "ask" else text
    return TranslatedEvent(QuestionAsked(known_id, place, person, question, now, private=True, handle=handle), key)


def parse_click(body: Mapping[str, Any], us: BotIdentity) -> TranslatedEvent | None:
    """A button that was pressed; None if it is none of the bot's."""
    action: Mapping[str, Any] = next(iter(body.get("actions") or ()), {})
    found = parse_action(str(action.get("action_id") or ""), str(action.get("value") or ""))
    if found is None:
        return None
    container, message = body.get("container") or {}, body.get("message") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread = container.get("thread_ts") or message.get("thread_ts") or ""
    person = str((body.get("user") or {}).get("id") or "")
    known_id = f"{channel}:{container.get('message_ts') or ''}:{person}:{action.get('action_ts') or ''}"
    place = Location(NAME, us.team, str(channel), str(thread))
    clicked = ButtonPressed(known_id, place, person, *found, handle=str(body.get("response_url") or ""))
    return TranslatedEvent(clicked, (f"{NAME}:click:{known_id}",))
