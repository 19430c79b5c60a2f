"""What a channel is now, and who reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from adapters.slack.errors import told
from bot.chat import Channel
from bot.errors import Withheld

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.identity import Us
    from adapters.slack.people import People
    from bot.chat import Place

PAGE = 999
SHARED = ("is_ext_shared", "is_pending_ext_shared", "is_org_shared", "pending_shared", "pending_connected_team_ids")


def kind(info: Mapping[str, Any]) -> Literal["open", "closed", "direct"]:
    """Who may read a channel. Only what Slack calls public in so many words is open."""
    if info.get("is_im"):
        return "direct"
    return "open" if info.get("is_channel") and info.get("is_private") is False else "closed"


def inside(info: Mapping[str, Any]) -> bool:
    """Whether the bot is in a channel; of an archived one nobody is called a member for sure."""
    return bool(info.get("is_archived")) or info.get("is_member") is not False


class Channels:
    """The channels of a workspace."""

    def __init__(self, client: AsyncWebClient, us: Us, people: People) -> None:
        self._client = client
        self._us = us
        self._people = people

    async def channel(self, place: Place) -> Channel:
        """The facts of a channel. Raises PlatformError, NotThere only if it is one of our own workspace."""
        if place.workspace != self._us.team:
            raise Withheld("This is a channel of another workspace.")
        with told():
            info = (await self._client.conversations_info(channel=place.channel)).get("channel") or {}
        ids = await self._readers(place.channel, info)
        people = await self._people.present(ids - {self._us.user})
        return Channel(
            place=place.main,
            name=str(info.get("name_normalized") or info.get("name") or ""),
            kind=kind(info),
            members=frozenset(people),
            guests=frozenset(person.id for person in people.values() if person.guest),
            shared=any(info.get(key) for key in SHARED),
            inside=inside(info) or self._us.user in ids,
        )

    async def open_name(self, channel: str) -> str:
        """The name of a channel if it is open to everybody, else nothing. Raises PlatformError."""
        with told():
            info = (await self._client.conversations_info(channel=channel)).get("channel") or {}
        return str(info.get("name") or "") if kind(info) == "open" else ""

    async def _readers(self, channel: str, info: Mapping[str, Any]) -> set[str]:
        """The ids of everybody in a channel."""
        if info.get("is_im"):
            return {str(info.get("user"))} if info.get("user") else set()
        ids: set[str] = set()
        cursor = ""
        while True:
            with told():
                page = await self._client.conversations_members(channel=channel, limit=PAGE, cursor=cursor or None)
            ids.update(page.get("members") or ())
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return ids
