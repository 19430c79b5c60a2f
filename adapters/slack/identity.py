"""Who the bot is in its workspace."""

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
    """The bot's workspace, its two ids there (as a user and as a bot), and the workspace's address, ending in "/"."""

    team: str
    user: str
    bot: str
    url: str

    def is_author(self, user: str, bot: str) -> bool:
        """Whether these ids of an author are ours."""
        return bool((user and user == self.user) or (bot and bot == self.bot))


async def fetch_identity(client: AsyncWebClient) -> BotIdentity:
    """Ask Slack who we are. Raises SetupError if the token is not valid, PlatformError if nobody can say."""
    with map_connect_errors(BOT_TOKEN):
        found = await client.auth_test()
    if not (found.get("team_id") and found.get("user_id")):
        raise PlatformUnavailable("Slack does not say who the bot is.")
    url = str(found.get("url") or "https://app.slack.com/")
    return BotIdentity(
        team=str(found.get("team_id") or ""),
        user=str(found.get("user_id") or ""),
        bot=str(found.get("bot_id") or ""),
        url=url if url.endswith("/") else url + "/",
    )
