"""Translate slash commands, shortcuts, pressed buttons and submitted forms into events of the bot. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adapters.slack.context import NAME
from adapters.slack.events.translate import TranslatedEvent
from adapters.slack.replies.blocks import parse_action
from adapters.slack.replies.forms import parse_answers, parse_form_name, parse_metadata, parse_origin
from adapters.slack.workspace.messages import parse_message, parse_ts
from bot.platform.events import ButtonPressed, CommandInvoked, FormSubmitted, QuestionAsked
from bot.platform.models import Location, Message

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from adapters.slack.context import BotIdentity


def parse_command(
    body: Mapping[str, Any], identity: BotIdentity, command_names: Collection[str], now: datetime
) -> TranslatedEvent:
    """Translate a slash command into a command or a question.

    `ask`, and several words that do not start with one of `command_names`, are a question. No words, or a single
    unknown word, show the help.
    """
    text = str(body.get("text") or "").strip()
    word, _, rest = text.partition(" ")
    name = word.lower()
    event_id = str(body.get("trigger_id") or f"{body.get('user_id')}:{now.timestamp()}")
    location = Location(NAME, identity.team, str(body.get("channel_id") or ""), str(body.get("thread_ts") or ""))
    person, handle = str(body.get("user_id") or ""), str(body.get("response_url") or "")
    key = (f"{NAME}:command:{identity.team}:{event_id}",)
    is_question = name == "ask" or (name not in command_names and rest)
    if not is_question or not rest.strip():
        command = name if name in command_names else "help"
        return TranslatedEvent(
            CommandInvoked(event_id, location, person, command, rest.strip(), handle=handle, time=now), key
        )
    question = rest.strip() if name == "ask" else text
    return TranslatedEvent(QuestionAsked(event_id, location, person, question, now, private=True, handle=handle), key)


def parse_click(body: Mapping[str, Any], identity: BotIdentity) -> TranslatedEvent | None:
    """Translate a pressed button; None if it is not the bot's."""
    action: Mapping[str, Any] = next(iter(body.get("actions") or ()), {})
    found = parse_action(str(action.get("action_id") or ""), str(action.get("value") or ""))
    if found is None:
        return None
    container, message = body.get("container") or {}, body.get("message") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread = container.get("thread_ts") or message.get("thread_ts") or ""
    person = str((body.get("user") or {}).get("id") or "")
    event_id = f"{channel}:{container.get('message_ts') or ''}:{person}:{action.get('action_ts') or ''}"
    location = Location(NAME, identity.team, str(channel), str(thread))
    event = ButtonPressed(event_id, location, person, *found, handle=str(body.get("response_url") or ""))
    return TranslatedEvent(event, (f"{NAME}:click:{identity.team}:{event_id}",))


def parse_shortcut(body: Mapping[str, Any], identity: BotIdentity, now: datetime) -> TranslatedEvent | None:
    """Translate a shortcut of a message's menu into a command with that message; None if it is not the bot's."""
    name, payload = parse_form_name(str(body.get("callback_id") or "")), body.get("message") or {}
    channel = str((body.get("channel") or {}).get("id") or "")
    ts = str(payload.get("ts") or body.get("message_ts") or "")
    if not (name and channel and ts):
        return None
    place = Location(NAME, identity.team, channel)
    message = parse_message(payload, place, identity) or _own_message(payload, place, ts)
    person = str((body.get("user") or {}).get("id") or "")
    event_id = f"{channel}:{ts}:{person}:{body.get('action_ts') or ''}"
    invoked = CommandInvoked(
        event_id,
        message.location,
        person,
        name,
        handle=str(body.get("response_url") or ""),
        message=message,
        time=now,
    )
    return TranslatedEvent(invoked, (f"{NAME}:shortcut:{identity.team}:{event_id}",))


def _own_message(payload: Mapping[str, Any], place: Location, ts: str) -> Message:
    """A message of the bot itself, or a notice of Slack."""
    root = str(payload.get("thread_ts") or "")
    location = replace(place, thread="" if root == ts else root)
    return Message(ts, location, "", str(payload.get("text") or ""), parse_ts(ts), by_bot=True, own=True)


def parse_submission(body: Mapping[str, Any], identity: BotIdentity, now: datetime) -> TranslatedEvent | None:
    """Translate a submitted form; None if it is not the bot's. A view is submitted once."""
    view: Mapping[str, Any] = body.get("view") or {}
    name, metadata = parse_form_name(str(view.get("callback_id") or "")), parse_metadata(str(view["private_metadata"]))
    if not name or not metadata:
        return None
    person = str((body.get("user") or {}).get("id") or "")
    event_id = f"{view['id']}:{person}"
    origin = parse_origin(metadata, identity.team, person)
    event = FormSubmitted(
        event_id,
        origin.location,
        person,
        name,
        str(metadata.get("value") or ""),
        parse_answers((view.get("state") or {}).get("values") or {}),
        now,
        origin.handle,
        int(metadata.get("part") or 1),
        int(metadata.get("parts") or 1),
    )
    return TranslatedEvent(event, (f"{NAME}:form:{identity.team}:{event_id}",))
