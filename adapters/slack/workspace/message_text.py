"""Render everything that a Slack message says: its text, blocks, attachments, forwarded messages, and files. Pure.

The one place for events, histories and exports. The result is in Slack's markup; `markup.to_plain_text` resolves it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.common.json_fields import MAX_DEPTH, cut_text, get_row, get_rows, get_text, join_lines
from adapters.slack.workspace.blocks import link, mention, quote, render_blocks
from adapters.slack.workspace.markup import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Row = Mapping[str, Any]

FORWARD_FLAGS = ("is_share", "is_msg_unfurl", "is_reply_unfurl", "is_thread_root_unfurl")
PREVIEW_FIELDS = ("from_url", "original_url", "app_unfurl_url", "service_name")
NO_FALLBACK = re.compile(r"\[no preview available\]|This (?:content|message) can't be displayed\.?")
WORD = re.compile(r"\w+")
LABELED_CHANNEL = re.compile(r"<(#\w+)\|[^<>]*>")
EXTERNAL, LIST = "external", "list"
MENTIONED_FILES = frozenset({"file_comment", "file_mention"})  # messages about a file that another message shared
SERVICES = {"gdrive": "Google Drive", "onedrive": "OneDrive", "dropbox": "Dropbox", "box": "Box"}


@dataclass(frozen=True, slots=True)
class SlackText:
    """What a message says.

    `text`: the author's own words, or those of an app. `forwarded` and `previews` as in `Message`.
    """

    text: str = ""
    forwarded: str = ""
    previews: str = ""


def render_message(payload: Row) -> SlackText:
    """Everything that a message says."""
    own = _own_text(payload)
    parts, forwarded, previews = [own, *_name_files(payload)], [], []
    for row in get_rows(payload, "attachments"):
        if is_forwarded(row, own):
            forwarded.append(_render_forwarded(row))
        elif get_text(row, *PREVIEW_FIELDS):
            previews.append(_render_preview(row, own))
        else:
            parts.append(_render_attachment(row))
    return SlackText(*(cut_text(join_lines(lines)) for lines in (parts, forwarded, previews)))


def is_unread_file(file: Row) -> bool:
    """Whether a file has no bytes that Slack hands out: one of another service, or a list."""
    return get_text(file, "mode") in {EXTERNAL, LIST} or file.get("is_external") is True


def is_forwarded(attachment: Row, text: str) -> bool:
    """Whether an attachment is a message that the author shared; that of a link in the text is only a preview."""
    if not any(attachment.get(flag) is True for flag in FORWARD_FLAGS):
        return False
    url = get_text(attachment, "from_url", "original_url")
    return attachment.get("is_share") is True or not (url and escape(url) in text)


# The author's own words.


def _own_text(payload: Row) -> str:
    """The text or the blocks, whichever says all that the other does; both if neither does."""
    comment = get_row(payload, "comment")
    text = get_text(comment, "comment") or get_text(payload, "text")
    first = get_text(get_row(get_row(payload, "file"), "initial_comment"), "comment")
    text = join_lines([text, first]) if _count_words(first) - _count_words(text) else text
    rendered = render_blocks(payload.get("blocks"))
    said, shown = _count_words(text), _count_words(rendered)
    if not shown - said:
        return text
    return rendered if not said - shown else join_lines([text, rendered])


def _count_words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.casefold()))


# Attachments.


def _render_preview(attachment: Row, own: str) -> str:
    """The preview of a link; "" if it says no more than the message."""
    text = _render_attachment(attachment, is_preview=True)
    return text if _count_words(text) - _count_words(own) else ""


def _render_attachment(attachment: Row, *, is_preview: bool = False) -> str:
    """An attachment of an app, or the preview of a link, whose address is in the message already."""
    title, url = get_text(attachment, "title"), get_text(attachment, "title_link")
    blocks = render_blocks(attachment.get("blocks"))
    parts = [
        get_text(attachment, "pretext"),
        get_text(attachment, "author_name"),
        title if is_preview or not url or "<" in title else f"<{url}|{title}>" if title else "",
        get_text(attachment, "text"),
        *map(_render_field, get_rows(attachment, "fields")),
        blocks,
        *_name_files(attachment, all_of_them=True),
        "" if is_preview else get_text(attachment, "footer"),
    ]
    fallback = NO_FALLBACK.sub("", get_text(attachment, "fallback"))
    return _hide_channels(join_lines(parts) or fallback)


def _render_field(field: Row) -> str:
    title, value = get_text(field, "title"), get_text(field, "value")
    return f"{title}: {value}" if title and value else title or value


def _render_forwarded(attachment: Row, depth: int = 0) -> str:
    """A message of somebody else, under a line that says whose it is, and from where and when.

    What it has attached follows, such as a message that its author forwarded.
    """
    messages = [get_row(row, "message") for row in get_rows(attachment, "message_blocks")]
    rendered = join_lines(render_blocks(message.get("blocks")) for message in messages)
    text = get_text(attachment, "text")
    said, shown = _count_words(text), _count_words(rendered)
    if text and shown - said:
        text = rendered if not said - shown else join_lines([text, rendered])
    fields = map(_render_field, get_rows(attachment, "fields"))
    within = [row for each in (attachment, *messages) for row in get_rows(each, "attachments")]
    attached = [
        _render_forwarded(row, depth + 1) if is_forwarded(row, text) else _render_attachment(row)
        for row in within
        if depth < MAX_DEPTH
    ]
    body = join_lines([text or rendered, *fields, *attached, *_name_files(attachment, all_of_them=True)])
    body = body or get_text(attachment, "fallback")
    return join_lines([f"{_attribute(attachment)}:", quote(_hide_channels(body))]) if body else ""


def _attribute(attachment: Row) -> str:
    author = mention("@", get_text(attachment, "author_id"), get_text(attachment, "author_name", "author_subname"))
    place = mention("#", get_text(attachment, "channel_id"))
    seconds = get_text(attachment, "ts").partition(".")[0]
    parts = ["Forwarded message", f"by {author}" if author else "", f"in {place}" if place else ""]
    return " ".join(filter(None, parts)) + (f", <!date^{seconds}^{{date}}>" if seconds.isdigit() else "")


def _hide_channels(text: str) -> str:
    """A text without the names that its author saw of channels; names are looked up for its readers."""
    return LABELED_CHANNEL.sub(r"<\1>", text)


# Files.


def _name_files(payload: Row, *, all_of_them: bool = False) -> Iterator[str]:
    """Name the files that are not read, with what Slack says of their content, and the one that a comment is about."""
    for file in get_rows(payload, "files"):
        if all_of_them or is_unread_file(file):
            yield _name_file(file)
    if payload.get("subtype") in MENTIONED_FILES and (file := get_row(payload, "file")):
        yield _name_file(file)


def _name_file(file: Row) -> str:
    label = escape(get_text(file, "title", "name", "id")) or "without a name"
    url = get_text(file, "external_url", "permalink", "url_private")
    named = link(url, get_text(file, "title", "name")) if is_unread_file(file) and url else label
    service = get_text(file, "external_type", "app_name")
    kind = "List" if get_text(file, "mode") == LIST else "File"
    where = f" ({escape(SERVICES.get(service, service))})" if service else ""
    columns = [get_text(row, "name") for row in get_rows(get_row(file, "list_metadata"), "schema")]
    preview = get_text(file, "preview_plain_text", "plain_text", "preview") if is_unread_file(file) else ""
    return join_lines([f"{kind} “{named}”{where}", escape(", ".join(filter(None, columns))), escape(preview)])
