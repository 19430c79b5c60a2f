"""Update the full-text indexes of an earlier version in the background, while questions are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from engine.runtime import Runtime

log = structlog.get_logger(__name__)

REPORT_SECONDS = 10.0  # between two lines of the log


async def update_full_text(runtime: Runtime) -> None:
    """Index rows of an earlier version again, in one of all processes; each batch is durable."""
    full_text, clock = runtime.ledger.full_text, runtime.clock
    is_segmented = not await full_text.count_unsegmented()
    if is_segmented and not (await full_text.has_old_stems() and await full_text.stem_next_batch()):
        return
    async with runtime.processes.lease("full text"):
        reported = clock.monotonic()
        log.info("full_text.update_started", rows_left=await full_text.count_unsegmented())
        while await full_text.index_next_batch() or await full_text.stem_next_batch():
            await runtime.priority.yield_to_foreground()
            if clock.monotonic() - reported >= REPORT_SECONDS:
                reported = clock.monotonic()
                log.info("full_text.update_continues", rows_left=await full_text.count_unsegmented())
        log.info("full_text.update_finished")
