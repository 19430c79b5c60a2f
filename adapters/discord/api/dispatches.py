"""Skip gateway dispatches that the library cannot parse, where losing one cannot corrupt access data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable

    import discord

log = structlog.get_logger(__name__)

# Losing one of these leaves no wrong access data; any other one ends the connection, and all is sent again.
SKIPPABLE_EVENTS = frozenset(
    {
        "GUILD_CREATE",  # the guild is then unknown as a whole
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
    """Wrap the client's parsers of SKIPPABLE_EVENTS so that failures are logged and skipped."""
    parsers = client._connection.parsers  # noqa: SLF001  - the library has no public API for it
    for event in SKIPPABLE_EVENTS & parsers.keys():
        parsers[event] = _guarded_parser(client, event, parsers[event])


def _guarded_parser(client: discord.Client, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
    def guarded(data: Any) -> None:
        try:
            parse(data)
        except Exception as error:  # noqa: BLE001 - any parser failure is skipped
            log.warning("discord.dispatch_parse_failed", event_name=event, error=type(error).__name__)
            if event == "GUILD_CREATE":
                _remove_guild(client, data)

    return guarded


def _remove_guild(client: discord.Client, data: Any) -> None:
    """Remove a guild that was parsed only partly, so that no incomplete permissions are used."""
    guild_id = str(data.get("id", "")) if isinstance(data, dict) else ""
    guild = client.get_guild(int(guild_id)) if guild_id.isdecimal() else None
    if guild is not None:
        client._connection._remove_guild(guild)  # noqa: SLF001  - as above
