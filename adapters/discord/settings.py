"""Settings of the Discord adapter (THREADLORE_DISCORD_…)."""

from __future__ import annotations

from pydantic import SecretStr

from adapters.common.settings import AdapterSettings


class DiscordSettings(AdapterSettings):
    """Token and addresses; `.env.example` explains each."""

    prefix = "discord_"

    bot_token: SecretStr = SecretStr("")
    api_base: str = "https://discord.com/api/v10"
    gateway_url: str = ""
