"""The bot is away for a while, and comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.platform.models import Message, Place
    from tests.support.household import Household

DAY = 86400.0  # seconds


async def away(home: Household) -> tuple[Place, list[Message]]:
    """A channel with four messages, the last one in a thread, of which the bot knows."""
    place = await home.joined("ROOF", "ada", "bob")
    said = [await home.say(place, "ada", word) for word in ("One.", "Two.", "Three.")]
    said.append(await home.say(replace(place, thread=said[2].id), "bob", "Four."))
    return place, said


async def back(home: Household) -> None:
    """It has looked at everything."""
    home.platform.wait(300)
    await home.listening.catch_up("slack")
    await home.listening.past()
