"""Mentions as chat platforms write them, told apart and disarmed."""

from __future__ import annotations

import re

# <!channel> <!subteam^S1|@devs> <@U1|ada> <#C1|general> <@1> <@!1> <@&1> <#1>.
MENTION = re.compile(
    r"<(?:(?P<all>!(?:channel|here|everyone|group|subteam\^[^\s<>|]*)|@&[^\s<>|]+)|(?P<sign>[@#])!?(?P<id>[A-Za-z0-9]+))(?:\|(?P<label>[^<>\n]*))?>",
    re.IGNORECASE,
)
MENTION_START = re.compile(r"<(?:!(?:channel|here|everyone|group|subteam)|@&|[@#]!?\w+\|)", re.IGNORECASE)
BROADCAST_NAMES = ("everyone", "here", "channel")
BROADCAST = re.compile(f"@(?={'|'.join(BROADCAST_NAMES)})", re.IGNORECASE)
ZERO_WIDTH_SPACE = "\u200b"  # of no width: the word reads as before, and calls nobody


def find_mentions(text: str) -> frozenset[str]:
    """Whom and which channels a text names: a sign and an id each; groups of people never count."""
    return frozenset(found["sign"] + found["id"] for found in MENTION.finditer(text) if found["id"])


def defuse_broadcasts(text: str) -> str:
    """The same words, with @everyone, @here and @channel calling nobody."""
    return BROADCAST.sub("@" + ZERO_WIDTH_SPACE, text)


def escape_mention(found: re.Match[str], allowed: frozenset[str]) -> str:
    """A mention as it may be shown: itself if it is allowed, else its name as text."""
    if not found["id"]:
        name = (found["label"] or found["all"].lstrip("!@&").rpartition("^")[2]).lstrip("@")
        return f"@{ZERO_WIDTH_SPACE}{defuse_broadcasts(name)}"
    sign, name = found["sign"], found["label"] or found["id"]
    if sign + found["id"] in allowed:
        return f"<{sign}{found['id']}>"
    return f"{sign}{ZERO_WIDTH_SPACE}{defuse_broadcasts(name.lstrip('@#'))}"
