"""Render what is attached to a message of Microsoft Teams: cards, and messages that it quotes or forwards. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from adapters.chats.source import plain_text_of
from adapters.common.json_fields import MAX_DEPTH, MAX_ITEMS, cut_text, get_row, get_rows, get_text, join_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Row = Mapping[str, Any]

CARD = "application/vnd.microsoft.card."
CARD_OF_TEAMS = "application/vnd.microsoft.teams.card."
QUOTED, FORWARDED = "messageReference", "forwardedMessageReference"
# Fields of cards that have words, in the order in which cards show them.
TEXT_FIELDS = ("summary", "title", "subtitle", "activityTitle", "activitySubtitle", "name", "text", "altText", "label")


def render_cards(message: Row) -> str:
    """The words of the cards of a message."""
    kinds = ((get_text(row, "contentType"), row) for row in get_rows(message, "attachments"))
    cards = (_read(each) for kind, each in kinds if kind.startswith((CARD, CARD_OF_TEAMS)))
    return cut_text(join_lines(line for card in cards for line in _walk(card, 0)))


def render_quoted(message: Row) -> str:
    """The message to which this one replies within a chat, as a quotation."""
    found = _read_all(message, QUOTED)
    return join_lines(_quote(card, "messagePreview", "messageSender") for card in found)


def render_forwarded(message: Row) -> str:
    """Messages that this one forwards, with their authors."""
    found = _read_all(message, FORWARDED)
    rows = [(_name(get_row(card, "originalMessageSender")), card) for card in found]
    return join_lines(
        f"Forwarded message{f' by {name}' if name else ''}:\n{text}"
        for name, each in rows
        if (text := _quote(each, "originalMessageContent", ""))
    )


def quoted_message(message: Row) -> str:
    """The id of the message to which this one replies within a chat; "" for none."""
    found = _read_all(message, QUOTED)
    return next((id_ for card in found if (id_ := get_text(card, "messageId"))), "")


def _read_all(message: Row, kind: str) -> Iterator[Row]:
    """The contents of the attachments of a kind."""
    return (_read(row) for row in get_rows(message, "attachments") if get_text(row, "contentType") == kind)


def _read(attachment: Row) -> Row:
    """The content of an attachment, which is JSON in a text."""
    content = attachment.get("content")
    try:
        found = json.loads(content) if isinstance(content, str) else content
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _walk(row: Row, depth: int) -> Iterator[str]:
    """The words of a card and of what is in it; a fact is its name with its value."""
    if depth > MAX_DEPTH:
        return
    if (value := get_text(row, "value")) and (name := get_text(row, "title", "name")):
        yield f"{plain_text_of(name).rstrip(':')}: {plain_text_of(value)}"
        return
    yield from dict.fromkeys(text for key in TEXT_FIELDS if (text := plain_text_of(get_text(row, key))))
    for key, inner in row.items():
        for part in inner[:MAX_ITEMS] if isinstance(inner, list) else [inner]:
            if isinstance(part, dict):
                yield from _walk(part, depth + 1)
            elif key == "inlines" and isinstance(part, str) and (text := plain_text_of(part)):
                yield text


def _quote(row: Row, text: str, sender: str) -> str:
    name = _name(get_row(row, sender))
    lines = plain_text_of(get_text(row, text)).split("\n")
    lines[0] = f"{name}: {lines[0]}" if name and lines[0] else lines[0]
    return "\n".join(f"> {line}" for line in lines if line)


def _name(sender: Row) -> str:
    user, app = get_row(sender, "user"), get_row(sender, "application")
    return get_text(user, "displayName") or get_text(app, "displayName")
