"""Dispatches that the library cannot parse: one bad message must not end the connection, nor a bad role go unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable

    import discord

log = structlog.get_logger(__name__)

# What is said and done in channels: without one of these, nothing is believed that is not so.
SKIPPABLE_EVENTS = frozenset(
    {
        "GUILD_CREATE",  # the server is not known then
        "INTERACTION_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_REACTION_ADD",
        "MESSAGE_REACTION_REMOVE",
        "MESSAGE_UPDATE",
        "PRESENCE_UPDATE",
        "TYPING_START",
    }
)


def guard_parsers(client: discord.Client) -> None:
    """Leave out what cannot be parsed, as far as that is safe; else the connection ends, and all is told anew."""
    parsers = client._connection.parsers  # noqa: SLF001  - the library has no other place for it
    for event in SKIPPABLE_EVENTS & parsers.keys():
        parsers[event] = _guarded_parser(client, event, parsers[event])


def _guarded_parser(client: discord.Client, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
    def guarded(data: Any) -> None:
        try:
            parse(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next dispatch may be sound
            log.warning("discord.dispatch_parse_failed", event_name=event, error=type(error).__name__)
            if event == "GUILD_CREATE":
                _remove_guild(client, data)

    return guarded


def _remove_guild(client: discord.Client, data: Any) -> None:
    """A server of which only a part may be known is not known at all: nobody is told anything of it."""
    guild_id = str(data.get("id", "")) if isinstance(data, dict) else ""
    guild = client.get_guild(int(guild_id)) if guild_id.isdecimal() else None
    if guild is not None:
        client._connection._remove_guild(guild)  # noqa: SLF001  - as above
