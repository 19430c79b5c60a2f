"""Translate the descriptions of slash commands; their names stay English, so that everyone types the same ones."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from discord import app_commands
from discord.app_commands import TranslationContextLocation

from bot.i18n import SOURCE_LANGUAGE, gettext, match_locale, use_language

if TYPE_CHECKING:
    from discord import Locale

MAX_LENGTH = 100  # characters of a description
DESCRIPTIONS = {
    TranslationContextLocation.command_description,
    TranslationContextLocation.parameter_description,
    TranslationContextLocation.choice_name,
}


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
