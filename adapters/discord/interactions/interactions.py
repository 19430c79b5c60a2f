"""Commands and buttons: kept by the bot, acknowledged within three seconds, answered later by their handle."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

import discord
import structlog

from adapters.discord.api.calls import call_with_retries
from adapters.discord.replies.refs import TOKEN_LIFETIME, InteractionHandle
from adapters.discord.translate import NAME
from bot import texts
from bot.errors import PlatformError
from bot.platform.events import ButtonPressed
from bot.platform.models import Card, Location
from bot.platform.ports import ReplyTarget
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.discord.platform import DiscordPlatform
    from bot.platform.events import PlatformEvent
    from engine import Supervisor

log = structlog.get_logger(__name__)

ACKNOWLEDGE_AFTER = 1.5  # seconds that keeping it may take before it is acknowledged all the same

Interaction = discord.Interaction[Any]


class BotPort(Protocol):
    """The bot, as this adapter needs it."""

    @property
    def supervisor(self) -> Supervisor:
        """Runs background tasks."""

    def attach(self, platform: DiscordPlatform) -> None:
        """The platform can answer calls."""

    async def receive(self, event: PlatformEvent, *keys: str) -> bool:
        """Keep what happened; durable when it returns. False: one of the keys is known."""

    def suspend_visibility(self, platform: str) -> None:
        """Who reads what may have changed unnoticed; `catch_up` follows."""

    async def reconcile(self, platform: str) -> None:
        """The connection had been lost: look for what was missed."""

    async def suggest_names(self, person: str, location: Location, prefix: str) -> list[str]:
        """Names within what a person may read."""

    def record_activity(self, platform: str) -> None:
        """Something came from the platform."""


class InteractionHandler:
    """What people do with commands and buttons."""

    def __init__(self, bot: BotPort, platform: DiscordPlatform) -> None:
        self._bot = bot
        self._platform = platform

    @property
    def me(self) -> discord.ClientUser:
        """The bot."""
        return self._platform.channel_lookup.me

    def resolve_location(self, interaction: Interaction) -> Location:
        """Where it was done."""
        if interaction.channel is None:
            return Location(NAME, str(interaction.guild_id or ""), "")
        return self._platform.channel_lookup.remember_channel(interaction.channel)

    async def submit(
        self, interaction: Interaction, build_event: Callable[[str], PlatformEvent], *, private: bool
    ) -> None:
        """Keep it, and acknowledge it; `make` is given its handle. It is first kept, so that no crash loses it.

        The first response decides whether one person alone sees the answer.
        """
        is_button = interaction.type is discord.InteractionType.component
        handle = InteractionHandle(
            str(interaction.id),
            str(interaction.application_id),
            interaction.token,
            time.time() + TOKEN_LIFETIME,
            is_private=private,
            is_button=is_button,
        )
        self._platform.pending_acks.start(handle.interaction)
        receiving = asyncio.create_task(
            self._bot.receive(build_event(str(handle)), f"discord:interaction:{interaction.id}")
        )
        try:
            await asyncio.wait({receiving}, timeout=ACKNOWLEDGE_AFTER)
            await self._acknowledge(interaction, private=private and not is_button)
        finally:
            self._platform.pending_acks.finish(handle.interaction)
        try:
            await receiving
        except EngineError as error:
            log.warning("discord.interaction_enqueue_failed", error=type(error).__name__, hint=error.hint)
            target = ReplyTarget(
                "", self.resolve_location(interaction), str(interaction.user.id), private=True, handle=str(handle)
            )
            await self._platform.send_private(target, Card(texts.describe_error(error)))

    async def handle_button(self, interaction: Interaction, action: str, value: str) -> None:
        """A button was pressed; what is said about it, the one who pressed it sees alone."""
        interaction_id, location, person = (
            str(interaction.id),
            self.resolve_location(interaction),
            str(interaction.user.id),
        )

        def build_event(handle: str) -> ButtonPressed:
            return ButtonPressed(interaction_id, location, person, action, value, handle)

        await self.submit(interaction, build_event, private=True)

    async def suggest_names(self, interaction: Interaction, prefix: str) -> list[str]:
        """Names that the asker may know of; none if they cannot be had."""
        try:
            return await self._bot.suggest_names(str(interaction.user.id), self.resolve_location(interaction), prefix)
        except EngineError as error:
            log.warning("discord.autocomplete_failed", error=type(error).__name__)
            return []

    async def _acknowledge(self, interaction: Interaction, *, private: bool) -> None:
        try:
            await call_with_retries(
                "to acknowledge a command",
                lambda: interaction.response.defer(ephemeral=private, thinking=not _is_button(interaction)),
            )
        except PlatformError as error:
            log.warning("discord.acknowledge_failed", error=str(error))


def _is_button(interaction: Interaction) -> bool:
    return interaction.type is discord.InteractionType.component
