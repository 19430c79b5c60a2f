"""The bot is away for a while, and comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.platform.models import Location, Message
    from tests.support.bot_fixture import BotFixture

DAY = 86400.0  # seconds


async def build_indexed_channel(home: BotFixture) -> tuple[Location, list[Message]]:
    """A channel with four messages, the last one in a thread, of which the bot knows."""
    place = await home.join_channel("ROOF", "ada", "bob")
    said = [await home.post(place, "ada", word) for word in ("One.", "Two.", "Three.")]
    said.append(await home.post(replace(place, thread=said[2].id), "bob", "Four."))
    return place, said


async def reconcile_all(home: BotFixture) -> None:
    """It has looked at everything."""
    home.platform.advance(300)
    await home.ingest_service.start_reconciliation("slack")
    await home.ingest_service.run_sync()
