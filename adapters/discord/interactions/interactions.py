"""Commands and buttons: kept by the bot, acknowledged within three seconds, answered later by their handle."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

import discord
import structlog

from adapters.discord.api.calls import patiently
from adapters.discord.replies.refs import PATIENCE, Handle
from adapters.discord.translate import NAME
from bot import texts
from bot.errors import PlatformError
from bot.platform.events import Clicked
from bot.platform.models import Card, Place
from bot.platform.ports import Target
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.discord.platform import Discord
    from bot.platform.events import Happening
    from engine.scheduling.supervisor import Supervisor

log = structlog.get_logger(__name__)

SOON = 1.5  # seconds that keeping it may take before it is acknowledged all the same

Interaction = discord.Interaction[Any]


class Ear(Protocol):
    """The bot, as this adapter needs it."""

    @property
    def supervisor(self) -> Supervisor:
        """Runs background tasks."""

    def attach(self, platform: Discord) -> None:
        """The platform can answer calls."""

    async def hear(self, happening: Happening, *keys: str) -> bool:
        """Keep what happened; durable when it returns. False: one of the keys is known."""

    def doubt(self, platform: str) -> None:
        """Who reads what may have changed unnoticed; `catch_up` follows."""

    async def catch_up(self, platform: str) -> None:
        """The connection had been lost: look for what was missed."""

    async def suggest(self, person: str, place: Place, prefix: str) -> list[str]:
        """Names within what a person may read."""

    def alive(self, platform: str) -> None:
        """Something came from the platform."""


class Interactions:
    """What people do with commands and buttons."""

    def __init__(self, ear: Ear, platform: Discord) -> None:
        self._ear = ear
        self._platform = platform

    @property
    def me(self) -> discord.ClientUser:
        """The bot."""
        return self._platform.whereabouts.me

    def place(self, interaction: Interaction) -> Place:
        """Where it was done."""
        if interaction.channel is None:
            return Place(NAME, str(interaction.guild_id or ""), "")
        return self._platform.whereabouts.note(interaction.channel)

    async def take(self, interaction: Interaction, make: Callable[[str], Happening], *, private: bool) -> None:
        """Keep it, and acknowledge it; `make` is given its handle. It is first kept, so that no crash loses it.

        The first response decides whether one person alone sees the answer.
        """
        click = interaction.type is discord.InteractionType.component
        handle = Handle(
            str(interaction.id),
            str(interaction.application_id),
            interaction.token,
            time.time() + PATIENCE,
            private=private,
            click=click,
        )
        self._platform.acknowledged.begin(handle.interaction)
        hearing = asyncio.create_task(self._ear.hear(make(str(handle)), f"discord:interaction:{interaction.id}"))
        try:
            await asyncio.wait({hearing}, timeout=SOON)
            await self._acknowledge(interaction, private=private and not click)
        finally:
            self._platform.acknowledged.done(handle.interaction)
        try:
            await hearing
        except EngineError as error:
            log.warning("interaction_not_kept", error=type(error).__name__, hint=error.hint)
            target = Target("", self.place(interaction), str(interaction.user.id), private=True, handle=str(handle))
            await self._platform.whisper(target, Card(texts.failure(error)))

    async def pressed(self, interaction: Interaction, action: str, value: str) -> None:
        """A button was pressed; what is said about it, the one who pressed it sees alone."""
        identity, place, person = str(interaction.id), self.place(interaction), str(interaction.user.id)

        def clicked(handle: str) -> Clicked:
            return Clicked(identity, place, person, action, value, handle)

        await self.take(interaction, clicked, private=True)

    async def suggest(self, interaction: Interaction, beginning: str) -> list[str]:
        """Names that the asker may know of; none if they cannot be had."""
        try:
            return await self._ear.suggest(str(interaction.user.id), self.place(interaction), beginning)
        except EngineError as error:
            log.warning("no_suggestions", error=type(error).__name__)
            return []

    async def _acknowledge(self, interaction: Interaction, *, private: bool) -> None:
        try:
            await patiently(
                "to acknowledge a command",
                lambda: interaction.response.defer(ephemeral=private, thinking=not _click(interaction)),
            )
        except PlatformError as error:
            log.warning("not_acknowledged", error=str(error))


def _click(interaction: Interaction) -> bool:
    return interaction.type is discord.InteractionType.component
