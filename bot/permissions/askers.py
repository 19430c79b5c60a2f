"""Decide who may ask in a channel, and limit how often: questions per person, tokens per workspace.

A channel's `askers` are empty for everyone, MEMBERS (no guests), MANAGERS, or mentions of people and groups, separated
by blanks. Managers always may.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from bot import texts
from bot.errors import PermissionDenied
from bot.i18n import gettext
from bot.permissions.channel_facts import find_platform
from bot.text.format import format_duration
from engine.errors import WRITES_REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.permissions.resolver import AudienceResolver
    from bot.platform.models import Location, Person
    from bot.store import BotStore
    from engine import Clock, Usage


MEMBERS = "members"
MANAGERS = "managers"
MAX_NOTIFIED = 10_000
SECONDS_PER_DAY = 86_400.0

_MENTION = re.compile(r"<@!?(?P<person>\w+)(?:\|[^<>]*)?>|<(?:@&|!subteam\^)(?P<group>\w+)(?:\|[^<>]*)?>")
_LABEL = re.compile(r"\|[^<>]*")


def _refusal_text(askers: str) -> str:
    texts_by_value = {MEMBERS: gettext(texts.GUESTS_MAY_NOT_ASK), MANAGERS: gettext(texts.ONLY_MANAGERS_ASK)}
    return texts_by_value.get(askers, gettext(texts.ONLY_SOME_ASK))


def list_people(askers: str) -> tuple[str, ...]:
    """The ids of the mentioned people."""
    return tuple(found["person"] for found in _MENTION.finditer(askers) if found["person"])


def list_groups(askers: str) -> tuple[str, ...]:
    """The ids of the mentioned groups."""
    return tuple(found["group"] for found in _MENTION.finditer(askers) if found["group"])


def parse_mentions(text: str) -> str:
    """The mentions of a text without labels, separated by blanks; empty if it contains anything else."""
    if _MENTION.sub("", text).strip(" ,;"):
        return ""
    return " ".join(dict.fromkeys(_LABEL.sub("", found[0]) for found in _MENTION.finditer(text)))


class AskerPolicy:
    """Applies the `askers` of channels, and remembers who was told that they may not ask."""

    def __init__(self, store: BotStore, audience: AudienceResolver) -> None:
        self._store = store
        self._audience = audience
        self._notified: set[tuple[str, str]] = set()

    async def find_refusal(self, location: Location, person: str) -> str:
        """Why a person may not ask in a channel; empty if they may. Raises PlatformError if that is unknown."""
        chosen = await self._store.channel_settings.get(location.room)
        if chosen is None or not chosen.askers:
            return ""
        known = await self._audience.get_person_at(location, person)
        return "" if await self._may_ask(location, known, chosen.askers) else _refusal_text(chosen.askers)

    async def _may_ask(self, location: Location, person: Person, askers: str) -> bool:
        if person.is_manager or askers == MANAGERS:
            return person.is_manager
        if askers == MEMBERS:
            return not person.is_guest
        if person.id in list_people(askers):
            return True
        for group in list_groups(askers):
            if await self.is_in_group(location, person.id, group):
                return True
        return False

    async def is_in_group(self, location: Location, person: str, group: str) -> bool:
        """Whether a person is certainly in a group. Raises PlatformError for transient failures."""
        platform = find_platform(self._audience.platforms, location.platform)
        try:
            return await platform.is_in_group(location.workspace, person, group)
        except PermissionDenied:
            return False

    def was_told(self, location: Location, person: str) -> bool:
        """Whether a person was told before that they may not ask in a channel; from now on they were."""
        key = (location.room, person)
        if key in self._notified:
            return True
        if len(self._notified) >= MAX_NOTIFIED:
            self._notified.clear()
        self._notified.add(key)
        return False


class Quotas:
    """Counts questions and tokens. `per_minute`: questions of a person; `per_day`: tokens. 0 means no limit."""

    def __init__(self, store: BotStore, per_minute: int, per_day: int, clock: Clock) -> None:
        self.store = store
        self.per_minute = per_minute
        self.per_day = per_day
        self._clock = clock

    async def check_question(self, location: Location, person: str) -> str:
        """Count a question; returns why it is refused, empty if it is not."""
        if not await self.count_question(location, person):
            return gettext(texts.TOO_MANY_QUESTIONS)
        return await self.check_budget(location)

    async def count_question(self, location: Location, person: str) -> bool:
        """Count a question, in whatever way it is asked; False if the person asked too many in the last minute."""
        if not self.per_minute:
            return True
        who = (location.platform, location.workspace, person)
        return await self.store.recent_questions.count_if_below(who, self.per_minute, self._clock.time())

    async def check_budget(self, location: Location) -> str:
        """Why no more tokens may be spent today in a workspace; empty if they may."""
        if not await self.is_budget_spent(location):
            return ""
        left = SECONDS_PER_DAY - self._clock.time() % SECONDS_PER_DAY
        return gettext(texts.BUDGET_SPENT).format(duration=format_duration(left))

    async def is_budget_spent(self, location: Location) -> bool:
        """Whether a workspace has used its tokens of this day."""
        if not self.per_day:
            return False
        return (
            await self.store.usage.get_tokens(location.platform, location.workspace, self.current_day()) >= self.per_day
        )

    async def record_usage(self, location: Location, usage: Iterable[Usage], answers: int = 0) -> None:
        """Add the tokens and the cost of an answer to those of the workspace's day.

        `answers`: 1 for an answer to a program, of which nothing else is stored.
        """
        items = list(usage)
        tokens = sum(item.input_tokens + item.output_tokens for item in items)
        cost = sum(item.cost for item in items)
        if tokens or cost or answers:
            with suppress(*WRITES_REFUSED):
                place = (location.platform, location.workspace)
                await self.store.usage.add(place, self.current_day(), tokens, cost, answers)

    def current_day(self) -> str:
        """The day (UTC) that tokens are counted for."""
        return self._clock.now().date().isoformat()
