"""Cache the users of a workspace, updated by Slack's events, and the names of its user groups."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.errors import SLACK_ERRORS, error_code, map_errors, next_cursor
from bot.errors import PlatformError
from bot.platform.models import Person
from bot.platform.ttl_cache import TTLCache

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.context import BotIdentity
    from engine import Clock

log = structlog.get_logger(__name__)

LIST_THRESHOLD = 8  # unknown users from which on all users are listed at once
PAGE_SIZE = 1000
MAX_CONCURRENT_CALLS = 8  # requests
CACHE_SECONDS = 86_400.0  # changes arrive as events, unless some were missed
SLACKBOT_ID = "USLACKBOT"

GROUP_CACHE_SECONDS = 3600.0  # also after a refusal
GROUP_RETRY_SECONDS = 60.0  # before another listing for a group that is not in the list
GROUP_MEMBERS_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CachedUser:
    """A user, their workspace, and when this was fetched."""

    person: Person
    team: str
    fetched_at: float


def parse_person(user: Mapping[str, Any], identity: BotIdentity) -> Person:
    """Parse a user. Users of other workspaces count as guests, and manage nothing here."""
    profile = user.get("profile") or {}
    name = profile.get("display_name") or profile.get("real_name") or user.get("real_name") or user.get("name")
    teams = {user.get("team_id") or identity.team, *((user.get("enterprise_user") or {}).get("teams") or ())}
    is_guest = identity.team not in teams or any(
        user.get(key) for key in ("is_restricted", "is_ultra_restricted", "is_stranger")
    )
    return Person(
        id=str(user.get("id") or ""),
        name=str(name or user.get("id") or ""),
        is_guest=is_guest,
        is_bot=bool(user.get("is_bot")) or user.get("id") == SLACKBOT_ID,
        is_manager=not is_guest and any(user.get(key) for key in ("is_admin", "is_owner", "is_primary_owner")),
        locale=str(user.get("locale") or ""),
        is_deactivated=bool(user.get("deleted")),
        time_zone=str(user.get("tz") or ""),
    )


class UserDirectory:
    """The users of a workspace."""

    def __init__(self, client: AsyncWebClient, identity: BotIdentity, clock: Clock) -> None:
        self._client = client
        self._identity = identity
        self._clock = clock
        self._cache: dict[str, CachedUser] = {}
        self._listed_at = -CACHE_SECONDS
        self._list_lock = asyncio.Lock()
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    async def get_person(self, user_id: str, max_age: float = CACHE_SECONDS) -> Person:
        """A user, from the cache if fetched within `max_age` seconds. Raises PlatformError."""
        cached = self._get_fresh(user_id, max_age)
        if cached:
            return cached.person
        async with self._semaphore:
            with map_errors():
                found = await self._client.users_info(user=user_id, include_locale=True)
        self.save_user(found.get("user") or {"id": user_id})
        return self._cache[user_id].person

    def invalidate(self) -> None:
        """Expire all users: events may have been missed."""
        self._cache = {user_id: replace(cached, fetched_at=-CACHE_SECONDS) for user_id, cached in self._cache.items()}
        self._listed_at = -CACHE_SECONDS

    async def preload(self) -> None:
        """List all users in advance; if Slack refuses, they are fetched one by one later."""
        async with self._list_lock:
            await self._try_to_list()

    async def get_readers(self, ids: Collection[str]) -> dict[str, Person]:
        """Select the users who can read: no apps, no deactivated users. Unknown users count as guests."""
        await self._list_if_many(ids)
        people = await self._get_people(ids)
        return {person.id: person for person in people if not person.is_bot and not person.is_deactivated}

    async def get_names(self, ids: Collection[str]) -> dict[str, str]:
        """The names of users; unknown ones are left out."""
        people = await self._get_people(ids)
        return {person.id: person.name for person in people if person.name}

    async def _get_people(self, ids: Collection[str]) -> list[Person]:
        return await asyncio.gather(*map(self._person_or_guest, ids))

    def get_team(self, user_id: str) -> str:
        """The workspace id of a user; the bot's own if unknown."""
        return self._cache[user_id].team if user_id in self._cache else self._identity.team

    def get_name(self, user_id: str) -> str:
        """The cached name of a user; empty if unknown."""
        return self._cache[user_id].person.name if user_id in self._cache else ""

    def save_user(self, user: Mapping[str, Any]) -> bool:
        """Cache a user payload; whether it changes what the user may read, or may do so for another process."""
        person = parse_person(user, self._identity)
        before = self._cache.get(person.id)
        if before is not None and not person.locale:  # Slack leaves it out of some payloads
            person = replace(person, locale=before.person.locale)
        team = str(user.get("team_id") or self._identity.team)
        self._cache[person.id] = CachedUser(person, team, self._clock.monotonic())
        return before is None or (before.person.is_guest, before.person.is_deactivated) != (
            person.is_guest,
            person.is_deactivated,
        )

    def _get_fresh(self, user_id: str, max_age: float) -> CachedUser | None:
        cached = self._cache.get(user_id)
        return cached if cached and self._clock.monotonic() - cached.fetched_at <= max_age else None

    async def _person_or_guest(self, user_id: str) -> Person:
        try:
            return await self.get_person(user_id)
        except PlatformError as error:
            log.warning("slack.user_lookup_failed", error=str(error))
            return Person(user_id, "", is_guest=True)

    async def _list_if_many(self, ids: Collection[str]) -> None:
        """List all users if many of `ids` are unknown, to avoid many single calls."""
        async with self._list_lock:
            unknown = sum(self._get_fresh(user_id, CACHE_SECONDS) is None for user_id in ids)
            if unknown < LIST_THRESHOLD or self._clock.monotonic() - self._listed_at < CACHE_SECONDS:
                return
            await self._try_to_list()

    async def _try_to_list(self) -> None:
        self._listed_at = self._clock.monotonic()
        try:
            await self._list()
        except SLACK_ERRORS as error:
            log.warning("slack.users_list_failed", error=error_code(error))

    async def _list(self) -> None:
        cursor = ""
        while True:
            page = await self._client.users_list(limit=PAGE_SIZE, cursor=cursor or None, include_locale=True)
            for user in page.get("members") or ():
                self.save_user(user)
            cursor = next_cursor(page)
            if not cursor:
                return


class UserGroups:
    """The user groups of a workspace."""

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._names: Mapping[str, str] = {}
        self._listed_at = -GROUP_CACHE_SECONDS
        self._lock = asyncio.Lock()
        self._members: TTLCache[frozenset[str]] = TTLCache(GROUP_MEMBERS_SECONDS, clock)

    async def has_member(self, group: str, user_id: str) -> bool:
        """Whether a user is in an enabled group. Raises PlatformError."""
        return user_id in await self._members.get_or_fetch((group,), lambda: self._fetch_members(group))

    async def _fetch_members(self, group: str) -> frozenset[str]:
        with map_errors():
            found = await self._client.usergroups_users_list(usergroup=group)
        return frozenset(map(str, found.get("users") or ()))

    async def get_names(self, ids: Collection[str]) -> Mapping[str, str]:
        """The names of groups; unknown ones are left out."""
        if ids:
            async with self._lock:
                has_unknown = bool(self._names) and not self._names.keys() >= set(ids)
                if self._clock.monotonic() - self._listed_at >= (
                    GROUP_RETRY_SECONDS if has_unknown else GROUP_CACHE_SECONDS
                ):
                    await self._list()
        return {id_: self._names[id_] for id_ in ids if id_ in self._names}

    async def _list(self) -> None:
        self._listed_at = self._clock.monotonic()
        try:
            response = await self._client.usergroups_list(include_disabled=True)
        except SLACK_ERRORS as error:
            log.info("slack.user_groups_list_failed", error=error_code(error))
            return
        groups = response.get("usergroups") or ()
        self._names = {str(group["id"]): str(group.get("handle") or group.get("name") or "") for group in groups}
