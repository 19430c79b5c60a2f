"""What the bot asks Discord to be told of."""

from __future__ import annotations

import discord

PRIVILEGED_INTENTS = "Message Content Intent and Server Members Intent"


def build_intents() -> discord.Intents:
    """Servers with their channels and threads, members (for who can read what), messages and their texts."""
    intents = discord.Intents.none()
    intents.guilds = True
    intents.members = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    return intents
