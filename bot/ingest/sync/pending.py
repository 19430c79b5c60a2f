"""Looks that are owed: of which channel, when it is due, and how often it was tried without coming to an end. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.platform.models import Place

AGAIN, LONGEST = 60.0, 60 * 60.0  # seconds until the next try; they double


@dataclass(frozen=True, slots=True)
class Debt:
    """A look at a channel that is due at a time (seconds of a clock that never goes back)."""

    place: Place
    due: float = 0.0
    tries: int = 0


class Owed:
    """The looks that are owed, in the order in which they came to be. One that is owed anew meanwhile stays owed."""

    def __init__(self) -> None:
        self._debts: dict[Place, Debt] = {}

    @property
    def places(self) -> set[Place]:
        """The channels that a look is owed to, due or not."""
        return set(self._debts)

    def owe(self, places: Iterable[Place]) -> None:
        """A look at each of them is due at once."""
        for place in places:
            self._debts[place] = Debt(place)

    def due(self, now: float) -> list[Debt]:
        """What is due by now."""
        return [each for each in self._debts.values() if each.due <= now]

    def stands(self, debt: Debt) -> bool:
        """Whether it is owed still, as it was."""
        return self._debts.get(debt.place) is debt

    def settle(self, debt: Debt) -> None:
        """That look is done."""
        if self.stands(debt):
            del self._debts[debt.place]

    def delay(self, debt: Debt, now: float) -> None:
        """It has to be looked at again, later each time."""
        if self.stands(debt):
            wait = min(LONGEST, AGAIN * 2**debt.tries)
            self._debts[debt.place] = replace(debt, due=now + wait, tries=debt.tries + 1)

    def drop(self, platform: str, workspace: str) -> None:
        """No channel of this workspace is looked at any more."""
        self._debts = {
            place: each
            for place, each in self._debts.items()
            if (place.platform, place.workspace) != (platform, workspace)
        }
