"""Gateway intents of the bot."""

from __future__ import annotations

import discord

PRIVILEGED_INTENTS = "Message Content Intent and Server Members Intent"


def build_intents() -> discord.Intents:
    """Select guilds, members (needed to determine readers), messages and their content."""
    intents = discord.Intents.none()
    intents.guilds = True
    intents.members = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    return intents
