"""Settings of the Slack adapter (THREADLORE_SLACK_…), and what the bot needs to know about Slack."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, SecretStr

from adapters.common.settings import AdapterSettings
from bot.i18n import N_
from bot.platform.traits import PlatformTraits

_PERMALINK_ID = re.compile(r"p(\d{10})(\d{6})")  # a message's timestamp without its dot


class SlackSettings(AdapterSettings):
    """How Slack is reached, tokens and addresses; `.env.example` explains each."""

    prefix = "slack_"

    bot_token: SecretStr = SecretStr("")
    mode: Literal["socket", "http"] = "socket"
    app_token: SecretStr = SecretStr("")
    signing_secret: SecretStr = SecretStr("")
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    encryption_keys: SecretStr = SecretStr("")
    own_workspaces: str = ""
    store_other_workspaces: bool = False
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=3000, ge=0, le=65535)
    api_base: str = "https://slack.com/api/"

    @property
    def encryption_key_list(self) -> list[str]:
        """The keys that encrypt tokens, the current one first."""
        keys = self.encryption_keys.get_secret_value().split(",")
        return [key for written in keys if (key := written.strip())]


def parse_link_part(part: str) -> str:
    """Convert the message part of a permalink to its timestamp; other parts are unchanged."""
    match = _PERMALINK_ID.fullmatch(part)
    return f"{match[1]}.{match[2]}" if match else part


TRAITS = PlatformTraits(
    command_prefix="/threadlore ",
    private_ask_hint=N_("with /threadlore ask"),
    features=(
        N_("`/threadlore ask QUESTION` – an answer only for you, from everything you can read"),
        N_("share a file in a channel that I'm in, or in a direct message to me – I read it and add ✅ when I'm done"),
    ),
    max_form_fields=40,
    max_field_length=3000,
    parse_link_part=parse_link_part,
)
