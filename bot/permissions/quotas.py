"""Limit the questions per person and minute, and the tokens of the questions of a workspace."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot import texts
from bot.i18n import gettext
from engine.errors import WRITES_REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.platform.models import Location
    from bot.store import BotStore
    from engine import Clock, Usage


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
        return gettext(texts.BUDGET_SPENT) if await self.is_budget_spent(location) else ""

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
