"""Who is who in the workspace, remembered, and kept true by Slack's events."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.api.errors import TROUBLE, code, told
from bot.errors import PlatformError
from bot.platform.models import Person

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.identity import Us

log = structlog.get_logger(__name__)

MANY = 8  # unknown people for whom the whole list is asked for
PAGE = 1000
AT_ONCE = 8  # requests
BELIEVED = 86_400.0  # seconds; whatever changes is told by events, unless these were missed
SERVANT = "USLACKBOT"


@dataclass(frozen=True, slots=True)
class Known:
    """Somebody, their workspace, whether they were deactivated, and when this was said."""

    person: Person
    team: str
    left: bool
    at: float


def someone(user: Mapping[str, Any], us: Us) -> Person:
    """A user as Slack describes them. Whoever is of another workspace counts as a guest."""
    profile = user.get("profile") or {}
    name = profile.get("display_name") or profile.get("real_name") or user.get("real_name") or user.get("name")
    teams = {user.get("team_id") or us.team, *((user.get("enterprise_user") or {}).get("teams") or ())}
    guest = any(user.get(key) for key in ("is_restricted", "is_ultra_restricted", "is_stranger"))
    return Person(
        id=str(user.get("id") or ""),
        name=str(name or user.get("id") or ""),
        guest=guest or us.team not in teams,
        bot=bool(user.get("is_bot")) or user.get("id") == SERVANT,
        manager=any(user.get(key) for key in ("is_admin", "is_owner", "is_primary_owner")),
    )


class People:
    """The people of a workspace."""

    def __init__(self, client: AsyncWebClient, us: Us, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._us = us
        self._clock = clock
        self._known: dict[str, Known] = {}
        self._listed = -BELIEVED
        self._listing = asyncio.Lock()
        self._gate = asyncio.Semaphore(AT_ONCE)

    async def person(self, id_: str, age: float = BELIEVED) -> Person:
        """Somebody, as they were known no longer than `age` seconds ago. Raises PlatformError."""
        known = self._fresh(id_, age)
        if known:
            return known.person
        async with self._gate:
            with told():
                found = await self._client.users_info(user=id_)
        self.note(found.get("user") or {"id": id_})
        return self._known[id_].person

    def doubt(self) -> None:
        """Events may have been missed: ask for everybody anew."""
        self._known = {id_: replace(known, at=-BELIEVED) for id_, known in self._known.items()}
        self._listed = -BELIEVED

    async def prime(self) -> None:
        """Get to know everybody before anybody is asked for; where that is refused, people are asked for one by one."""
        async with self._listing:
            await self._try_to_list()

    async def present(self, ids: Collection[str]) -> dict[str, Person]:
        """Those of them who can read: no programs, nobody who was deactivated. The unknown count as guests."""
        await self._list_if_many(ids)
        people = await asyncio.gather(*(self._person_or_guest(id_) for id_ in ids))
        return {person.id: person for person in people if not person.bot and not self._left(person.id)}

    async def names(self, ids: Collection[str]) -> dict[str, str]:
        """How people are called; those who cannot be known are left out."""
        people = await asyncio.gather(*(self._person_or_guest(id_) for id_ in ids))
        return {person.id: person.name for person in people if person.name}

    def team(self, id_: str) -> str:
        """The workspace of somebody; ours unless it is known better."""
        return self._known[id_].team if id_ in self._known else self._us.team

    def name(self, id_: str) -> str:
        """How somebody is called, if that is known already."""
        return self._known[id_].person.name if id_ in self._known else ""

    def note(self, user: Mapping[str, Any]) -> bool:
        """What Slack says of somebody; whether it changes what they may read."""
        person = someone(user, self._us)
        before, left = self._known.get(person.id), bool(user.get("deleted"))
        self._known[person.id] = Known(person, str(user.get("team_id") or self._us.team), left, self._clock())
        return before is not None and (before.person.guest, before.left) != (person.guest, left)

    def _fresh(self, id_: str, age: float) -> Known | None:
        known = self._known.get(id_)
        return known if known and self._clock() - known.at <= age else None

    def _left(self, id_: str) -> bool:
        return id_ in self._known and self._known[id_].left

    async def _person_or_guest(self, id_: str) -> Person:
        try:
            return await self.person(id_)
        except PlatformError as error:
            log.warning("person_unknown", error=str(error))
            return Person(id_, "", guest=True)

    async def _list_if_many(self, ids: Collection[str]) -> None:
        """Ask for everybody at once where that spares many questions; without it, one by one will do."""
        async with self._listing:
            unknown = sum(self._fresh(id_, BELIEVED) is None for id_ in ids)
            if unknown < MANY or self._clock() - self._listed < BELIEVED:
                return
            await self._try_to_list()

    async def _try_to_list(self) -> None:
        self._listed = self._clock()
        try:
            await self._list()
        except TROUBLE as error:
            log.warning("people_not_listed", error=code(error))

    async def _list(self) -> None:
        cursor = ""
        while True:
            page = await self._client.users_list(limit=PAGE, cursor=cursor or None)
            for user in page.get("members") or ():
                self.note(user)
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return
