"""The bot's identity in its workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.slack.api.errors import map_connect_errors
from bot.errors import PlatformUnavailable

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

NAME = "slack"
BOT_TOKEN, APP_TOKEN = "THREADLORE_SLACK_BOT_TOKEN", "THREADLORE_SLACK_APP_TOKEN"


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The workspace's id, the bot's user id and bot id there, and the workspace's URL, ending in "/"."""

    team: str
    user: str
    bot: str
    url: str

    def is_author(self, user: str, bot: str) -> bool:
        """Whether an author with these ids is the bot itself."""
        return bool((user and user == self.user) or (bot and bot == self.bot))


async def fetch_identity(client: AsyncWebClient) -> BotIdentity:
    """Fetch the bot's identity. Raises SetupError if the token is invalid, and PlatformError."""
    with map_connect_errors(BOT_TOKEN):
        response = await client.auth_test()
    if not (response.get("team_id") and response.get("user_id")):
        raise PlatformUnavailable("Slack did not identify the bot.")
    url = str(response.get("url") or "https://app.slack.com/")
    return BotIdentity(
        team=str(response.get("team_id") or ""),
        user=str(response.get("user_id") or ""),
        bot=str(response.get("bot_id") or ""),
        url=url if url.endswith("/") else url + "/",
    )
