"""Find mentions of people, channels and groups in chat markup, and defuse those that notify people."""

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
ZERO_WIDTH_SPACE = "\u200b"  # invisible; a word with it notifies nobody


def find_mentions(text: str) -> frozenset[str]:
    """The people and channels that a text mentions, as sign and id ("@U1", "#C1"); groups are left out."""
    return frozenset(found["sign"] + found["id"] for found in MENTION.finditer(text) if found["id"])


def defuse_broadcasts(text: str) -> str:
    """Defuse @everyone, @here and @channel, so that they notify nobody."""
    return BROADCAST.sub("@" + ZERO_WIDTH_SPACE, text)


def escape_mention(found: re.Match[str], allowed: frozenset[str]) -> str:
    """The mention itself if it is allowed, else its name as plain text."""
    if not found["id"]:
        name = (found["label"] or found["all"].lstrip("!@&").rpartition("^")[2]).lstrip("@")
        return f"@{ZERO_WIDTH_SPACE}{defuse_broadcasts(name)}"
    sign, name = found["sign"], found["label"] or found["id"]
    if sign + found["id"] in allowed:
        return f"<{sign}{found['id']}>"
    return f"{sign}{ZERO_WIDTH_SPACE}{defuse_broadcasts(name.lstrip('@#'))}"
