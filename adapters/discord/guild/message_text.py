"""Render everything that a Discord message says: content, embeds, components, polls and forwarded messages. Pure.

The one place for events, histories and exports, which hand in the fields of the API's message object. The result is in
Discord's markup; `markup.to_plain_text` resolves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from adapters.common.json_fields import MAX_DEPTH, cut_text, get_row, get_rows, get_text, join_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Row = Mapping[str, Any]

RICH, POLL_RESULT = "rich", "poll_result"  # types of embeds
CHILD_LISTS = ("components", "items", "options")
# Where a component has words, in the order in which Discord shows them.
TEXT_FIELDS = ("content", "label", "description", "placeholder", "value", "name")
CONTROLS = frozenset({2, 3, 5, 6, 7, 8})  # buttons and menus


@dataclass(frozen=True, slots=True)
class DiscordText:
    """What a message says, as the fields of `Message` with these names."""

    text: str = ""
    forwarded: str = ""
    previews: str = ""


def render_message(payload: Row, *, by_bot: bool) -> DiscordText:
    """Everything that a message says. The embeds of a person's message are previews of links."""
    parts, previews = [_render_body(payload)], []
    for embed in get_rows(payload, "embeds"):
        is_own = by_bot and get_text(embed, "type") in {"", RICH}
        rendered = render_embed(embed, is_preview=not is_own)
        if is_own or get_text(embed, "type") == POLL_RESULT:
            parts.append(rendered)
        elif any(line not in parts[0] for line in rendered.split("\n")):
            previews.append(rendered)
    parts += map(_describe_file, get_rows(payload, "attachments"))
    forwarded = list(_render_forwarded(payload))
    return DiscordText(*(cut_text(join_lines(lines)) for lines in (parts, forwarded, previews)))


def _render_body(payload: Row) -> str:
    return join_lines([get_text(payload, "content"), render_poll(get_row(payload, "poll")), render_components(payload)])


def render_embed(embed: Row, *, is_preview: bool = False) -> str:
    """An embed: its author, title, text, fields and footer. The link of a preview is in the message already."""
    if get_text(embed, "type") == POLL_RESULT:
        return _render_poll_result(embed)
    fields = (_label(get_text(row, "name"), get_text(row, "value")) for row in get_rows(embed, "fields"))
    title, url = get_text(embed, "title"), get_text(embed, "url")
    return join_lines(
        [
            get_text(get_row(embed, "author"), "name"),
            f"[{title}]({url})" if title and url and not is_preview else title,
            get_text(embed, "description"),
            *fields,
            get_text(get_row(embed, "footer"), "text"),
        ]
    )


def render_poll(poll: Row) -> str:
    """A poll: its question and answers, with the votes that are counted."""
    question = get_text(get_row(poll, "question"), "text")
    results = get_rows(get_row(poll, "results"), "answer_counts")
    counts = {get_text(result, "id"): get_text(result, "count") for result in results}
    answers = [_render_answer(row, counts) for row in get_rows(poll, "answers")]
    return join_lines([f"Poll: {question}" if question else "", *answers])


def _render_answer(answer: Row, counts: Mapping[str, str]) -> str:
    media = get_row(answer, "poll_media")
    text = get_text(media, "text") or get_text(get_row(media, "emoji"), "name")
    votes = counts.get(get_text(answer, "answer_id"), "")
    return f"- {text} ({votes} votes)" if votes and text else f"- {text}" if text else ""


def _render_poll_result(embed: Row) -> str:
    """The message that ends a poll, whose result is in fields with fixed names."""
    facts = {get_text(row, "name"): get_text(row, "value") for row in get_rows(embed, "fields")}
    winner, votes = facts.get("victor_answer_text", ""), facts.get("victor_answer_votes", "")
    total = facts.get("total_votes", "")
    count = f" ({votes} of {total} votes)" if votes and total else ""
    return join_lines(
        [_label("Poll closed", facts.get("poll_question_text", "")), f"Most votes: {winner}{count}" if winner else ""]
    )


def render_components(row: Row, depth: int = 0) -> str:
    """The words of components: texts, sections, galleries, files and containers; not of buttons without a link."""
    return join_lines(_render_component(child, depth + 1) for child in _children(row)) if depth < MAX_DEPTH else ""


def _children(row: Row) -> list[Row]:
    nested = [row[key] for key in ("accessory", "component") if isinstance(row.get(key), dict)]
    return [*(child for key in CHILD_LISTS for child in get_rows(row, key)), *nested]


def _render_component(component: Row, depth: int) -> str:
    if component.get("type") in CONTROLS:
        label, url = get_text(component, "label"), get_text(component, "url")
        return f"[{label}]({url})" if url and label else url
    own = [get_text(component, key) for key in TEXT_FIELDS]
    return join_lines([*own, render_components(component, depth)])


def _render_forwarded(payload: Row) -> Iterator[str]:
    """Messages that were forwarded; Discord says where each was posted and when, but not by whom."""
    place = get_text(get_row(payload, "message_reference"), "channel_id")
    for row in get_rows(payload, "message_snapshots"):
        message = get_row(row, "message")
        embeds = map(render_embed, get_rows(message, "embeds"))
        files = map(_describe_file, get_rows(message, "attachments"))
        body = join_lines([_render_body(message), *embeds, *files])
        if body:
            where = f" from <#{place}>" if place.isdigit() else ""
            head = f"Forwarded message{where}{_format_time(get_text(message, 'timestamp'))}:"
            yield "\n".join([head, *(f"> {line}".rstrip() for line in body.split("\n"))])


def _format_time(text: str) -> str:
    try:
        return f", <t:{int(datetime.fromisoformat(text).timestamp())}>"
    except (ValueError, OverflowError):
        return ""


def _describe_file(attachment: Row) -> str:
    """What its author says of a file."""
    description = get_text(attachment, "description")
    return f"{get_text(attachment, 'title', 'filename', 'fileName')}: {description}" if description else ""


def _label(name: str, value: str) -> str:
    name = name if any(map(str.isalnum, name)) else ""  # a blank takes the place of a name that is left out
    return f"{name}: {value}" if name and value else name or value
