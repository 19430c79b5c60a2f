"""Settings of the Discord adapter (THREADLORE_DISCORD_…), and what the bot needs to know about Discord."""

from __future__ import annotations

from pydantic import Field, SecretStr

from adapters.common.settings import AdapterSettings
from bot.i18n import N_
from bot.platform.traits import PlatformTraits

TRAITS = PlatformTraits(
    argument_names={
        "learn": ("file", "private"),
        "forget": ("what",),
        "graph": ("name",),
        "history": ("subject",),
        "catch-up": ("since",),
        "digest": ("schedule",),
        "help": ("topic",),
        "settings": ("setting", "value"),
        "backfill": ("days",),
        "correct": ("correction", "words"),
        "verify": ("what",),
        "pin": ("words",),
        "expert": ("words",),
        "connect": ("words",),
        "my-data": ("words",),
        "decisions": ("words",),
        "readers": ("words",),
        "watch": ("words",),
        "unwatch": ("words",),
        "contradictions": ("words",),
        "faq": ("words",),
        "report": ("words",),
    },
    private_ask_hint=N_("with /ask and its option “private”"),
    reads_by_default=False,
    commands_take_files=True,
    manager_name=N_("Someone with Manage Server"),
    max_form_fields=5,
    max_field_length=4000,
    features=(N_("`/ask` – an answer for everyone here; with `private`, only for you, from everything you can read"),),
)


class DiscordSettings(AdapterSettings):
    """Token and addresses; `.env.example` explains each."""

    prefix = "discord_"

    bot_token: SecretStr = SecretStr("")
    api_base: str = "https://discord.com/api/v10"
    gateway_url: str = ""
    shards: int = Field(default=0, ge=0)
