"""What the rooms of the bot work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.errors import NotConnected, Withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.engine_context import Desk
    from bot.permissions.resolver import Readers
    from bot.platform.models import Card, Place
    from bot.platform.ports import Platform, Target
    from bot.settings import Settings
    from bot.store import Store


log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class House:
    """The engine at its desk, the bot's tables, facts about readers, the connected platforms by name, settings."""

    desk: Desk
    store: Store
    readers: Readers
    platforms: Mapping[str, Platform]
    settings: Settings

    def platform(self, place: Place) -> Platform:
        """The platform of a place. Raises NotConnected."""
        try:
            return self.platforms[place.platform]
        except KeyError as error:
            raise NotConnected(f"There is no connection to {place.platform}.") from error

    async def whisper(self, target: Target, card: Card) -> None:
        """Say something to one person alone, if the platform does not forbid that. Raises PlatformError else."""
        try:
            await self.platform(target.place).whisper(target, card)
        except Withheld as error:
            log.warning("not_told", room=target.place.room, error=str(error))
