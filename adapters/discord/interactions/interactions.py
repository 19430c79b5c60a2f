"""Queue commands, button presses and forms, acknowledge them within three seconds, answer later by their handle."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import discord
import structlog

from adapters.discord.calls import call_with_retries
from adapters.discord.interactions.forms import build_modal, parse_modal
from adapters.discord.replies.refs import TOKEN_LIFETIME, InteractionHandle
from adapters.discord.translate import NAME
from bot import texts
from bot.errors import PlatformError
from bot.i18n import match_locale, use_language
from bot.platform.events import ButtonPressed, FormSubmitted
from bot.platform.models import Card, Location
from bot.platform.ports import ReplyTarget
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.discord.platform import DiscordPlatform
    from bot.bot import Bot
    from bot.platform.events import CommandInvoked, PlatformEvent
    from bot.platform.forms import FormOption
    from engine import Clock

log = structlog.get_logger(__name__)

ACKNOWLEDGE_AFTER = 1.5  # seconds to wait for the queue before acknowledging anyway; Discord's limit is 3

Interaction = discord.Interaction[Any]


class InteractionHandler:
    """Handles slash commands, pressed buttons and submitted forms."""

    def __init__(self, bot: Bot, platform: DiscordPlatform) -> None:
        self._bot = bot
        self._platform = platform

    @property
    def me(self) -> discord.ClientUser:
        """The bot's user."""
        return self._platform.channel_lookup.me

    @property
    def clock(self) -> Clock:
        """The clock of the bot."""
        return self._bot.clock

    def resolve_location(self, interaction: Interaction) -> Location:
        """Where an interaction takes place, and remember its channel; outside of channels, the server alone."""
        if interaction.channel is None:
            return Location(NAME, str(interaction.guild_id or ""), "")
        return self._platform.channel_lookup.remember_channel(interaction.channel)

    async def submit(
        self, interaction: Interaction, build_event: Callable[[str], PlatformEvent], *, private: bool
    ) -> None:
        """Queue an interaction, then acknowledge it, so that a crash cannot lose an acknowledged one.

        `build_event` gets its handle. `private`: the answer is ephemeral, which the acknowledgement decides.
        """
        is_button = interaction.type is discord.InteractionType.component
        handle = InteractionHandle(
            str(interaction.id),
            str(interaction.application_id),
            interaction.token,
            self._bot.clock.time() + TOKEN_LIFETIME,
            is_private=private,
            is_button=is_button,
        )
        self._platform.locales[str(interaction.user.id)] = str(interaction.locale)
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
            with use_language(match_locale(str(interaction.locale))):
                card = Card(texts.describe_error(error))
            await self._platform.send_private(target, card)

    async def handle_button(self, interaction: Interaction, action: str, value: str) -> None:
        """Queue a pressed button; only the person who pressed it sees the response."""
        interaction_id, location, person = (
            str(interaction.id),
            self.resolve_location(interaction),
            str(interaction.user.id),
        )

        def build_event(handle: str) -> ButtonPressed:
            return ButtonPressed(interaction_id, location, person, action, value, handle, str(interaction.locale))

        await self.open_or_submit(interaction, build_event)

    async def handle_form(self, interaction: Interaction) -> None:
        """Queue a submitted form; only the person who filled it in sees the response."""
        found = parse_modal(dict(interaction.data or {}))
        if found is None:
            return
        interaction_id, location, person = (
            str(interaction.id),
            self.resolve_location(interaction),
            str(interaction.user.id),
        )
        now = self._bot.clock.now()

        def build_event(handle: str) -> FormSubmitted:
            return FormSubmitted(
                *(interaction_id, location, person, found.form, found.value, found.answers, now, handle),
                *(found.part, found.parts, str(interaction.locale)),
            )

        await self.submit(interaction, build_event, private=True)

    async def open_or_submit(
        self, interaction: Interaction, build_event: Callable[[str], CommandInvoked | ButtonPressed]
    ) -> None:
        """Open the form that an interaction asks for; without one, or if Discord refuses it, queue the interaction."""
        event = build_event("")
        form = await self._bot.build_form(event)
        modal = build_modal(form) if form is not None else None
        if form is None or modal is None:
            await self.submit(interaction, build_event, private=True)
            return
        try:
            if form.handles_event and isinstance(event, ButtonPressed):
                await self._bot.receive(replace(event, opens_form=True), f"discord:interaction:{interaction.id}:form")
            await call_with_retries("to open a form", lambda: interaction.response.send_modal(modal))
        except EngineError as error:
            log.warning("discord.form_rejected", form=form.name, error=type(error).__name__)
            await self.submit(interaction, build_event, private=True)

    async def suggest_names(self, interaction: Interaction, prefix: str) -> list[str]:
        """Suggest names that the user may see; empty after an error."""
        try:
            return await self._bot.suggest_names(str(interaction.user.id), self.resolve_location(interaction), prefix)
        except EngineError as error:
            log.warning("discord.autocomplete_failed", error=type(error).__name__)
            return []

    async def suggest_filter(self, interaction: Interaction, name: str, typed: str) -> list[FormOption]:
        """Suggest values of a search filter from what the user may read; empty after an error."""
        try:
            person, location = str(interaction.user.id), self.resolve_location(interaction)
            return await self._bot.suggest_filter(person, location, name, typed)
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
