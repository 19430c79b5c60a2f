"""Who the bot is in its workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.slack.errors import told

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

NAME = "slack"


@dataclass(frozen=True, slots=True)
class Us:
    """The bot's workspace, its two ids there (as a user and as a bot), and the workspace's address, ending in "/"."""

    team: str
    user: str
    bot: str
    url: str

    def wrote(self, user: str, bot: str) -> bool:
        """Whether these ids of an author are ours."""
        return bool((user and user == self.user) or (bot and bot == self.bot))


async def identify(client: AsyncWebClient) -> Us:
    """Ask Slack who we are. Raises Withheld if the token is not valid."""
    with told():
        found = await client.auth_test()
    url = str(found.get("url") or "https://app.slack.com/")
    return Us(
        team=str(found.get("team_id") or ""),
        user=str(found.get("user_id") or ""),
        bot=str(found.get("bot_id") or ""),
        url=url if url.endswith("/") else url + "/",
    )
