"""Commands as they are registered: English names, and descriptions in each language."""

from __future__ import annotations

from typing import Any

import discord
import pytest

from adapters.discord.interactions.command_sync import CommandTranslator, commands_digest, list_translated_commands
from adapters.discord.interactions.commands import build_command_tree
from bot.commands.table import COMMANDS

DISCORD_LOCALES = {"de", "es-ES", "es-419", "fr", "ja", "pt-BR"}

USAGES = {command.usage for command in COMMANDS.values() if command.usage}


@pytest.fixture
async def commands() -> list[dict[str, Any]]:
    tree = build_command_tree(discord.Client(intents=discord.Intents(guilds=True)))
    untranslated = await commands_digest(tree)
    await tree.set_translator(CommandTranslator())
    assert await commands_digest(tree) != untranslated
    return await list_translated_commands(tree)


def test_descriptions_are_in_all_languages_and_names_stay_english(commands: list[dict[str, Any]]) -> None:
    for command in commands:
        menu = command["type"] != discord.AppCommandType.chat_input.value
        assert command["name_localizations"].keys() == (DISCORD_LOCALES if menu else set())
        assert all(len(name) <= 32 for name in command["name_localizations"].values())
        for described in [] if menu else [command, *command["options"]]:
            if described["description"] in USAGES:
                continue  # what is typed is the same in all languages
            shown = described.get("description_localizations", {})
            assert shown.keys() == DISCORD_LOCALES, described["name"]
            assert all(0 < len(text) <= 100 and not text.endswith(" ") for text in shown.values())
            assert not described.get("name_localizations")
        choices = [choice for option in command.get("options", ()) for choice in option.get("choices", ())]
        for choice in choices:
            assert choice.get("name_localizations", {}).keys() in (set(), DISCORD_LOCALES)
    ask = next(command for command in commands if command["name"] == "ask")
    assert ask["description_localizations"]["pt-BR"].startswith("Fazer uma pergunta")
