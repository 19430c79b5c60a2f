"""What a channel is now, and who reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import TROUBLE, needed, refusal, told
from adapters.slack.identity import NAME
from bot.errors import PlatformUnavailable, Withheld
from bot.platform.models import Channel, ListedChannel, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.identity import Us
    from adapters.slack.workspace.users import People

PAGE = 999
TYPES = {"public_channel": "channels:read", "private_channel": "groups:read", "mpim": "mpim:read"}
SHARED = ("is_ext_shared", "is_pending_ext_shared", "is_org_shared", "pending_shared", "pending_connected_team_ids")


class Unlistable(Withheld):
    """The app lacks the scopes to list channels."""

    hint = "Give the app the scopes of the manifest: channels:read, groups:read, mpim:read."


def kind(info: Mapping[str, Any]) -> Literal["open", "closed", "direct"]:
    """Who may read a channel. Only what Slack calls public in so many words is open."""
    if info.get("is_im"):
        return "direct"
    return "open" if info.get("is_channel") and info.get("is_private") is False else "closed"


def inside(info: Mapping[str, Any]) -> bool:
    """Whether the bot is in a channel; of an archived one nobody is called a member for sure."""
    return bool(info.get("is_archived")) or info.get("is_member") is not False


def listed(info: Mapping[str, Any], place: Place) -> ListedChannel:
    """A channel as lists tell of it; with other workspaces' people, if only one word of it says so."""
    return ListedChannel(
        place=place,
        name=str(info.get("name_normalized") or info.get("name") or ""),
        kind="open" if kind(info) == "open" else "closed",
        shared=any(info.get(key) for key in SHARED),
        archived=bool(info.get("is_archived")),
    )


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

    async def listed(self, person: str = "") -> list[ListedChannel]:
        """The channels that the bot is in, or a person (of them, private ones only with the bot). Raises PlatformError.

        Kinds of channels that the app may not list are left out: it sees none of them.
        """
        types = dict(TYPES)
        while True:
            try:
                found = await self._all_pages(",".join(types), person)
            except SlackApiError as error:
                refused = [each for each in types if types[each] in needed(error)]
                if not refused:
                    raise refusal(error) from error
                if len(refused) == len(types):
                    raise Unlistable("The app may not list any channels.") from error
                types = {each: scope for each, scope in types.items() if each not in refused}
            except TROUBLE as error:
                raise refusal(error) from error
            else:
                return [listed(each, Place(NAME, self._us.team, str(each["id"]))) for each in found.values()]

    async def _all_pages(self, types: str, person: str) -> dict[str, Mapping[str, Any]]:
        """A whole list, each channel once. Raises PlatformError if a page says nothing."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor = ""
        while True:
            page = await self._client.users_conversations(
                types=types, user=person or None, exclude_archived=False, limit=PAGE, cursor=cursor or None
            )
            rows = page.get("channels")
            if not isinstance(rows, list):
                raise PlatformUnavailable("Slack gave no list of channels.")
            found.update({str(each["id"]): each for each in rows if each.get("id") and not each.get("is_im")})
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return found

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
