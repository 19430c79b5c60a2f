"""The options of `/ask` that are search filters, completed while they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands

from bot.i18n import N_

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from adapters.discord.interactions.interactions import InteractionHandler

    Interaction = discord.Interaction[Any]
    Choices = list[app_commands.Choice[str]]

MAX_CHOICES = 25
MAX_TEXT_LENGTH = 100  # characters of a choice or a description
FILTER_NAMES = {"channel": "in", "author": "from", "after": "after", "before": "before"}  # by parameter
FILTER_DESCRIPTIONS = {
    "channel": N_("Search only this channel"),
    "author": N_("Search only what this person wrote"),
    "after": N_("Search only what is not older: 2026-05, 2026-05-12, yesterday, 7d"),
    "before": N_("Search only what is older"),
    "has": N_("Search only files"),
}


def complete_filters(
    command: app_commands.Command[Any, ..., Any], find_handler: Callable[[Interaction], InteractionHandler]
) -> None:
    """Let the bot complete the filters of a command. `find_handler`: what handles an interaction."""
    for parameter, name in FILTER_NAMES.items():
        command.autocomplete(parameter)(_build_completion(name, find_handler))


def _build_completion(
    name: str, find_handler: Callable[[Interaction], InteractionHandler]
) -> Callable[[Interaction, str], Coroutine[Any, Any, Choices]]:
    async def complete(interaction: discord.Interaction[Any], current: str) -> Choices:
        found = await find_handler(interaction).suggest_filter(interaction, name, current)
        fitting = [option for option in found if max(len(option.label), len(option.value)) <= MAX_TEXT_LENGTH]
        return [app_commands.Choice(name=option.label, value=option.value) for option in fitting][:MAX_CHOICES]

    return complete
