"""Look up and list channels, their kind and members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from slack_sdk.errors import SlackApiError

from adapters.slack.context import NAME
from adapters.slack.errors import SLACK_ERRORS, map_errors, missing_scopes, next_cursor, to_platform_error
from bot.errors import PermissionDenied, PlatformUnavailable
from bot.platform.models import Channel, ListedChannel, Location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import BotIdentity
    from adapters.slack.workspace.users import UserDirectory

PAGE_SIZE = 999
SCOPES_BY_TYPE = {"public_channel": "channels:read", "private_channel": "groups:read", "mpim": "mpim:read"}
SHARED_FLAGS = (
    "is_ext_shared",
    "is_pending_ext_shared",
    "is_org_shared",
    "pending_shared",
    "pending_connected_team_ids",
)


class ListingForbidden(PermissionDenied):
    """The app lacks the scopes to list channels."""

    hint = "Give the app the scopes of the manifest: channels:read, groups:read, mpim:read."


def channel_kind(info: Mapping[str, Any]) -> Literal["open", "closed", "direct"]:
    """The kind of a channel; open only if Slack explicitly reports it as not private."""
    if info.get("is_im"):
        return "direct"
    return "open" if info.get("is_channel") and info.get("is_private") is False else "closed"


def is_bot_inside(info: Mapping[str, Any]) -> bool:
    """Whether the bot is a member; assumed for archived channels, where Slack does not report it reliably."""
    return bool(info.get("is_archived")) or info.get("is_member") is not False


def parse_listed_channel(info: Mapping[str, Any], location: Location) -> ListedChannel:
    """Parse a channel of a list; any sharing flag marks it as shared with other workspaces."""
    return ListedChannel(
        location=location,
        name=str(info.get("name_normalized") or info.get("name") or ""),
        kind="open" if channel_kind(info) == "open" else "closed",
        shared=any(info.get(key) for key in SHARED_FLAGS),
        archived=bool(info.get("is_archived")),
    )


class Channels:
    """The channels of a workspace."""

    def __init__(self, client: AsyncWebClient, identity: BotIdentity, users: UserDirectory) -> None:
        self._client = client
        self._identity = identity
        self._users = users

    async def fetch_channel(self, location: Location) -> Channel:
        """Fetch a channel and its members. Raises PlatformError; ChannelGone only for channels of this workspace."""
        if location.workspace != self._identity.team:
            raise PermissionDenied("The channel belongs to another workspace.")
        with map_errors():
            info = (await self._client.conversations_info(channel=location.channel)).get("channel") or {}
        ids = await self._fetch_member_ids(location.channel, info)
        users = await self._users.get_readers(ids - {self._identity.user})
        return Channel(
            location=location.without_thread,
            name=str(info.get("name_normalized") or info.get("name") or ""),
            kind=channel_kind(info),
            members=frozenset(users),
            guests=frozenset(person.id for person in users.values() if person.is_guest),
            shared=any(info.get(key) for key in SHARED_FLAGS),
            has_bot=is_bot_inside(info) or self._identity.user in ids,
        )

    async def list_channels(self, person: str = "") -> list[ListedChannel]:
        """List the channels of the bot, or of a person (private ones only if the bot is in them too).

        Kinds of channels that the app lacks the scope for are left out. Raises PlatformError.
        """
        types = dict(SCOPES_BY_TYPE)
        while True:
            try:
                found = await self._fetch_pages(",".join(types), person)
            except SlackApiError as error:
                refused = [type_ for type_ in types if types[type_] in missing_scopes(error)]
                if not refused:
                    raise to_platform_error(error) from error
                if len(refused) == len(types):
                    raise ListingForbidden("The app may not list any channels.") from error
                types = {each: scope for each, scope in types.items() if each not in refused}
            except SLACK_ERRORS as error:
                raise to_platform_error(error) from error
            else:
                return [
                    parse_listed_channel(page, Location(NAME, self._identity.team, str(page["id"])))
                    for page in found.values()
                ]

    async def _fetch_pages(self, types: str, person: str) -> dict[str, Mapping[str, Any]]:
        """Fetch all pages of a list, by channel id. Raises PlatformUnavailable for a page without channels."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor = ""
        while True:
            page = await self._client.users_conversations(
                types=types, user=person or None, exclude_archived=False, limit=PAGE_SIZE, cursor=cursor or None
            )
            rows = page.get("channels")
            if not isinstance(rows, list):
                raise PlatformUnavailable("Slack sent no list of channels.")
            found.update({str(row["id"]): row for row in rows if row.get("id") and not row.get("is_im")})
            cursor = next_cursor(page)
            if not cursor:
                return found

    async def fetch_open_name(self, channel: str) -> str:
        """Fetch the name of a public channel; empty for others. Raises PlatformError."""
        with map_errors():
            info = (await self._client.conversations_info(channel=channel)).get("channel") or {}
        return str(info.get("name") or "") if channel_kind(info) == "open" else ""

    async def _fetch_member_ids(self, channel: str, info: Mapping[str, Any]) -> set[str]:
        """Fetch the ids of all members of a channel."""
        if info.get("is_im"):
            return {str(info.get("user"))} if info.get("user") else set()
        ids: set[str] = set()
        cursor = ""
        while True:
            with map_errors():
                page = await self._client.conversations_members(channel=channel, limit=PAGE_SIZE, cursor=cursor or None)
            ids.update(page.get("members") or ())
            cursor = next_cursor(page)
            if not cursor:
                return ids
