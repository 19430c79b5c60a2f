"""Convert Slack's markup to plain text, and plain text to it. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKUP_TOKEN = re.compile(r"<([^<>]+)>")
GROUP_MENTION = re.compile(r"<!subteam\^(\w+)")
HIDDEN_CHANNEL = "private-channel"  # shown for channels that are not public


def find_mentioned_ids(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of users and channels that a text mentions.

    A label next to an id is not used: only its author may be allowed to see it.
    """
    people, channels = set(), set()
    for token in MARKUP_TOKEN.findall(text):
        target = token.partition("|")[0]
        if target.startswith("@"):
            people.add(target[1:])
        elif target.startswith("#"):
            channels.add(target[1:])
    return frozenset(people), frozenset(channels)


def find_mentioned_groups(text: str) -> frozenset[str]:
    """The ids of user groups that a text mentions."""
    return frozenset(GROUP_MENTION.findall(text))


def to_plain_text(
    text: str, people: Mapping[str, str], channels: Mapping[str, str], groups: Mapping[str, str] | None = None
) -> str:
    """Replace ids by names, and links by their label and URL."""
    people = {**people, **(groups or {})}
    pieces, at = [], 0
    for token in MARKUP_TOKEN.finditer(text):
        pieces += [_unescape(text[at : token.start()]), _render_token(token[1], people, channels)]
        at = token.end()
    return "".join([*pieces, _unescape(text[at:])])


def escape(text: str) -> str:
    """A text in Slack's markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _render_token(token: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Render a mention, a link or a special token (`!here`, `!date`)."""
    target, _, label = token.partition("|")
    label = _unescape(label)
    match target[0]:
        case "@":
            return f"@{people.get(target[1:]) or label.lstrip('@') or 'somebody'}"
        case "#":
            return f"#{channels.get(target[1:], HIDDEN_CHANNEL)}"
        case "!":
            return _render_special(target[1:], label, people)
    return _render_link(_unescape(target), label)


def _render_special(target: str, label: str, names: Mapping[str, str]) -> str:
    """Render a user group by name, a date as UTC, and @here or @channel as typed."""
    kind, _, rest = target.partition("^")
    if kind == "subteam":
        return f"@{names.get(rest) or label.lstrip('@') or 'group'}"
    if kind == "date" and not label:
        return _format_time(rest.partition("^")[0])
    return label or f"@{kind}"


def _format_time(seconds: str) -> str:
    try:
        return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return seconds


def _render_link(url: str, label: str) -> str:
    """Render a link; the URL is always kept, and shown once."""
    bare = url.removeprefix("mailto:").removeprefix("tel:")
    same = label in ("", url, bare) or url.rstrip("/") == f"https://{label}" == f"https://{label}".rstrip("/")
    if bare != url:
        return bare if same else f"{label} ({bare})"
    return url if same or url in (f"http://{label}", f"https://{label}") else f"{label} ({url})"
