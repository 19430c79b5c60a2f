"""Settings of the Slack adapter (THREADLORE_SLACK_…)."""

from __future__ import annotations

from pydantic import SecretStr

from adapters.common.settings import AdapterSettings


class SlackSettings(AdapterSettings):
    """Tokens and API address; `.env.example` explains each."""

    prefix = "slack_"

    bot_token: SecretStr = SecretStr("")
    app_token: SecretStr = SecretStr("")
    api_base: str = "https://slack.com/api/"
