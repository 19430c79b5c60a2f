"""Find chunks that another choice of extraction read than today's, and read those with facts about people again."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from engine.ingest.extraction_batches import notice_key, shared_extraction_key
from engine.models import Excerpt
from engine.storage.ledger.records import SMALL_TALK_KEY, incomplete_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.llm.base import LanguageModel
    from engine.runtime import Runtime
    from engine.storage.ledger.records import PeopleRemovalState, ReadChunk


CHECKED_AT_ONCE = 200  # chunks in one transaction
log = structlog.get_logger(__name__)


def extraction_choice(language: LanguageModel) -> str:
    """The identity of what reads texts now: equal for equal settings, models and prompts."""
    probes = (Excerpt("The mill is old.", "", is_conversation) for is_conversation in (False, True))
    return sha256(b"".join(map(language.extraction_key, probes))).hexdigest()


async def check_readings(runtime: Runtime) -> None:
    """Record which chunks would be read differently by today's model, prompts and choice of extraction.

    One of all processes does; each batch is durable.
    """
    readings = runtime.ledger.readings
    if runtime.refusal is not None or not await readings.list_unchecked(1):
        return
    async with runtime.processes.lease("extraction check"):
        while chunks := await readings.list_unchecked(CHECKED_AT_ONCE):
            await runtime.priority.yield_to_foreground()
            await readings.record_check(chunks, await asyncio.to_thread(find_outdated, chunks, runtime.language))


def find_outdated(chunks: Sequence[ReadChunk], language: LanguageModel) -> set[int]:
    """The ids of those that were not read as they would be today. Small talk is read by nothing."""
    return {
        chunk.id for chunk in chunks if chunk.key != SMALL_TALK_KEY and chunk.key not in _list_keys(chunk, language)
    }


def _list_keys(chunk: ReadChunk, language: LanguageModel) -> set[bytes]:
    """The keys that a chunk has after a reading of today: alone or in a shared call, to its end or not."""
    alone = language.extraction_key(Excerpt(chunk.text, chunk.section, chunk.kind == "conversation"))
    whole = {alone, shared_extraction_key(alone, chunk.space)}
    return {*whole, *map(incomplete_key, whole), notice_key(alone)}


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
