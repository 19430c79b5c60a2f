"""Count a vote on an answer, for every door."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.monitoring.metrics import Metrics
    from bot.store import BotStore, StoredAnswer


async def record_vote(store: BotStore, metrics: Metrics | None, stored: StoredAnswer, person: str, *, up: bool) -> None:
    """Store the vote of a person; the same vote again changes nothing."""
    if await store.feedback.record(stored.id, person, up) and metrics is not None:
        metrics.record_feedback(stored.location.platform, "up" if up else "down")
