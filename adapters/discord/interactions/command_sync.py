"""Register the slash commands, only when they have changed: Discord limits registrations per day."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog

from adapters.discord.calls import call_with_retries
from adapters.discord.interactions.localization import CommandTranslator, list_translated_commands
from adapters.discord.translate import NAME
from bot.errors import PlatformError

if TYPE_CHECKING:
    from discord import app_commands

    from bot.store.shared.adapter_state import AdapterState

log = structlog.get_logger(__name__)


async def sync_commands(tree: app_commands.CommandTree[Any], state: AdapterState, name: str) -> bool:
    """Register the tree's commands if they differ from those that any process registered last; whether they did.

    Their digest is kept in `state` by `name`, which contains the server and the application. A refusal is logged, and
    the registered commands stay as they are.
    """
    await tree.set_translator(CommandTranslator())
    digest = await commands_digest(tree)
    if await state.get(NAME, name) == digest:
        return False
    try:
        await call_with_retries("to register commands", tree.sync)
    except PlatformError as error:
        log.warning("discord.command_registration_failed", error=str(error), hint=error.hint)
        return False
    await state.set(NAME, name, digest)
    return True


async def commands_digest(tree: app_commands.CommandTree[Any]) -> str:
    """Hash all commands with their translations, to detect changes."""
    commands = await list_translated_commands(tree)
    return sha256(json.dumps(commands, sort_keys=True, default=str).encode()).hexdigest()
