"""Remove stored facts about people in the background, while questions are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.runtime import Runtime
    from engine.storage.ledger.records import PeopleRemovalState

log = structlog.get_logger(__name__)


async def remove_people(runtime: Runtime, wake: Callable[[], None]) -> None:
    """Remove facts about people where these became no entities, in one of all processes; each batch is durable."""
    removals, clock = runtime.ledger.removed_people, runtime.clock
    while await removals.drop_next():
        wake()
        await runtime.priority.yield_to_foreground()
    if not (await removals.load_state()).is_running:
        return
    async with runtime.processes.lease("removal of people"):
        state = await removals.load_state()
        if not state.is_running:  # another process has finished it
            return
        log.info("people.removal_started", texts=state.total - state.read)
        while await removals.remove_next(clock.time()):
            wake()
            await runtime.priority.yield_to_foreground()
        wake()
        state = await removals.load_state()
        log.info("people.removal_finished", texts=state.read, entities=state.entities)


def describe_removal(state: PeopleRemovalState) -> list[str]:
    """A removal that runs, for the administrator."""
    if not state.is_running:
        return []
    return [f"People are being removed from the graph: {state.read:,} of {state.total:,} texts were looked at."]
