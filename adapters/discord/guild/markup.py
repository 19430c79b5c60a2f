"""Convert Discord's markup to plain text: mentions, emojis and timestamps."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import discord

from adapters.discord.guild.permissions import is_open

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_USER_MENTION = re.compile(r"<@!?(\d+)>")
_MARKUP = re.compile(
    r"<@&(?P<role>\d+)>|<#(?P<channel>\d+)>|<a?:(?P<emoji>\w+):\d+>|<t:(?P<time>-?\d{1,12})(?::[a-zA-Z])?>"
    r"|</(?P<command>[^:<>]+):\d+>|<id:(?P<guide>\w+)>|<(?P<link>https?://[^\s<>]++)>"
)
_SPOILER = re.compile(r"\|\|([^|`\n]+)\|\|")
_SUBTEXT = re.compile(r"^-# ", re.MULTILINE)
HIDDEN_CHANNEL = "#private"


async def to_plain_text(text: str, guild: discord.Guild | None, name: Callable[[str], Awaitable[str]]) -> str:
    """Convert markup to plain text; `name` gives the name of a user by id.

    A channel that not every member can see is shown as HIDDEN_CHANNEL.
    """
    names = {person: await name(person) for person in dict.fromkeys(_USER_MENTION.findall(text))}
    text = _USER_MENTION.sub(lambda found: f"@{names[found[1]]}", text)
    text = _MARKUP.sub(lambda found: _render_token(found, guild), text)
    return _SUBTEXT.sub("", _SPOILER.sub(r"\1", text))


def _render_token(found: re.Match[str], guild: discord.Guild | None) -> str:
    if found["role"]:
        role = guild.get_role(int(found["role"])) if guild else None
        return f"@{role.name.removeprefix('@')}" if role else "@role"
    if found["channel"]:
        channel = guild.get_channel_or_thread(int(found["channel"])) if guild else None
        return _channel_name(channel)
    if found["time"]:
        return _format_time(int(found["time"]))
    if found["emoji"]:
        return f":{found['emoji']}:"
    return found["link"] or (f"/{found['command']}" if found["command"] else f"#{found['guide']}")


def _channel_name(channel: discord.abc.GuildChannel | discord.Thread | None) -> str:
    visible_channel = channel.parent if isinstance(channel, discord.Thread) and not channel.is_private() else channel
    if (
        channel is None
        or visible_channel is None
        or isinstance(visible_channel, discord.Thread)
        or not is_open(visible_channel)
    ):
        return HIDDEN_CHANNEL
    return f"#{channel.name}"


def _format_time(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return str(seconds)
