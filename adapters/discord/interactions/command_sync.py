"""Register the slash commands in every language, only when they have changed: Discord limits registrations per day."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog
from discord import app_commands
from discord.app_commands import TranslationContextLocation

from adapters.discord.calls import call_with_retries
from adapters.discord.translate import NAME
from bot.errors import PlatformError
from bot.i18n import SOURCE_LANGUAGE, gettext, match_locale, use_language

if TYPE_CHECKING:
    from discord import Locale

    from bot.store.shared.adapter_state import AdapterState


log = structlog.get_logger(__name__)
MAX_LENGTH = 100  # characters of a description
DESCRIPTIONS = {
    TranslationContextLocation.command_description,
    TranslationContextLocation.parameter_description,
    TranslationContextLocation.choice_name,
}


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


class CommandTranslator(app_commands.Translator):
    """Finds the descriptions in the bot's catalogs; None keeps the English one."""

    async def translate(
        self, string: app_commands.locale_str, locale: Locale, context: app_commands.TranslationContext[Any, Any]
    ) -> str | None:
        is_menu = isinstance(context.data, app_commands.ContextMenu)  # nobody types the name of a menu's command
        return translate(string.message, str(locale)) if is_menu or context.location in DESCRIPTIONS else None


@cache
def translate(message: str, locale: str) -> str | None:
    """A description in the language of a locale of Discord; None for the English one."""
    language = match_locale(locale)
    if language == SOURCE_LANGUAGE:
        return None
    with use_language(language):
        translated = gettext(message)
    return None if translated == message else translated[:MAX_LENGTH]


async def list_translated_commands(tree: app_commands.CommandTree[Any]) -> list[dict[str, Any]]:
    """All commands as they are registered, with the translations of the tree's translator."""
    commands = tree.get_commands()
    if tree.translator is None:
        return [command.to_dict(tree) for command in commands]
    return [await command.get_translated_payload(tree, tree.translator) for command in commands]
