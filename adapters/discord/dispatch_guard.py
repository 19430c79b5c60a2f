"""Skip dispatches that the library cannot parse, and read a server anew whose state may be wrong without one.

Without the guard such an event would end the connection, and each would cost one of the day's new sessions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from adapters.discord.translate import NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    import discord

    from bot.bot import Bot

log = structlog.get_logger(__name__)

LOG_INTERVAL = 60.0  # seconds between two lines about events of one name
SESSION_EVENTS = frozenset({"READY", "RESUMED"})  # without these there is no session
GUILD_ID_EVENTS = frozenset({"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"})  # their id is the server's
# Losing one of these leaves no wrong access data and no deleted text.
HARMLESS_EVENTS = frozenset(
    {
        "GUILD_MEMBERS_CHUNK",  # the members are then not loaded, and requested again
        "INTERACTION_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_REACTION_ADD",
        "MESSAGE_REACTION_REMOVE",
        "MESSAGE_UPDATE",
        "PRESENCE_UPDATE",
        "TYPING_START",
    }
)


class DispatchGuard:
    """Wraps the parsers of a client. `reload` receives the id of a server of which an event was lost."""

    def __init__(self, client: discord.Client, bot: Bot, reload: Callable[[int], None]) -> None:
        self._bot = bot
        self._reload = reload
        self._logged_at: dict[str, float] = {}
        parsers = client._connection.parsers  # noqa: SLF001  - the library has no public API for it
        for event in parsers.keys() - SESSION_EVENTS:
            parsers[event] = self._guard(event, parsers[event])

    def _guard(self, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
        def guarded(data: Any) -> None:
            try:
                parse(data)
            except Exception as error:
                self._record(event, error)
                if event in HARMLESS_EVENTS:
                    return
                guild = find_guild_id(event, data)
                if guild is None:  # it may concern any server: only a new session tells the state of all
                    raise
                self._reload(guild)

        return guarded

    def _record(self, event: str, error: Exception) -> None:
        """Count an event, and log it unless one of its name was logged a moment ago."""
        self._bot.record_skipped_event(NAME, event)
        now = self._bot.clock.monotonic()
        if now - self._logged_at.get(event, float("-inf")) >= LOG_INTERVAL:
            self._logged_at[event] = now
            log.warning("discord.dispatch_parse_failed", event_name=event, error=type(error).__name__)


def find_guild_id(event: str, data: Any) -> int | None:
    """The server of an event, None if the event names none."""
    found = data.get("id" if event in GUILD_ID_EVENTS else "guild_id") if isinstance(data, dict) else None
    return int(found) if isinstance(found, str) and found.isdecimal() and found.isascii() else None
