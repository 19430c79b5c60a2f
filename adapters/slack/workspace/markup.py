"""Slack's markup → text as people read it. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKUP_TOKEN = re.compile(r"<([^<>]+)>")
GROUP_MENTION = re.compile(r"<!subteam\^(\w+)")
HIDDEN_CHANNEL = "private-channel"  # the name of a channel that is not open is not for everybody who reads the mention


def find_mentioned_ids(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The people and channels whose names are needed to read a text.

    A name beside an id is the one that its author could see, which is not for everybody who reads the text.
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
    """The user groups whose names are needed to read a text."""
    return frozenset(GROUP_MENTION.findall(text))


def to_plain_text(
    text: str, people: Mapping[str, str], channels: Mapping[str, str], groups: Mapping[str, str] | None = None
) -> str:
    """The text with names for ids, and links as their words and addresses."""
    people = {**people, **(groups or {})}
    pieces, at = [], 0
    for token in MARKUP_TOKEN.finditer(text):
        pieces += [_unescape(text[at : token.start()]), _render_token(token[1], people, channels)]
        at = token.end()
    return "".join([*pieces, _unescape(text[at:])])


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _render_token(token: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """A mention, a link or a command of Slack's in words."""
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
    """A user group by its name, a date in words, a call to everybody as it is typed."""
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
    """A link; the address stands there once, and is never lost."""
    bare = url.removeprefix("mailto:").removeprefix("tel:")
    same = label in ("", url, bare) or url.rstrip("/") == f"https://{label}" == f"https://{label}".rstrip("/")
    if bare != url:
        return bare if same else f"{label} ({bare})"
    return url if same or url in (f"http://{label}", f"https://{label}") else f"{label} ({url})"
