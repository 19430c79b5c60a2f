"""Count the languages of the stored texts once a day, and keep which of them are to be searched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from engine.errors import ModelNotInstalled
from engine.llm.builtin_models import choose_builtin
from engine.llm.e5.spoken import SpokenLanguages, choose_languages, load_spoken, save_spoken
from engine.text.languages.detection import count_languages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.runtime import Runtime

log = structlog.get_logger(__name__)

INTERVAL_SECONDS = 86_400.0
FIRST_SECONDS, POLL_SECONDS = 60.0, 600.0  # after the start, and between two looks at what is due
SAMPLE_CHUNKS = 200  # the newest, and as many others
BATCH = 10


async def count_periodically(runtime: Runtime, data_dir: Path) -> None:
    """Count when the last count is a day old, or there is none."""
    await asyncio.sleep(FIRST_SECONDS)
    while True:
        before = load_spoken(data_dir)
        if before is None or runtime.clock.time() - before.counted_at >= INTERVAL_SECONDS:
            await count_now(runtime, data_dir)
        await asyncio.sleep(POLL_SECONDS)


async def count_now(runtime: Runtime, data_dir: Path) -> SpokenLanguages:
    """Count a sample of the texts, and save the choice that follows from it and from the former one."""
    counts = count_languages(())
    texts = await runtime.ledger.stats.sample_texts(SAMPLE_CHUNKS)
    for start in range(0, len(texts), BATCH):
        await runtime.priority.yield_to_foreground()
        counts += await asyncio.to_thread(count_languages, texts[start : start + BATCH])
    before, lines = load_spoken(data_dir), counts.total()
    former = (before.chosen if before is not None else ()) or runtime.options.languages
    wanted = choose_languages(former, counts)
    shares = {language: count / lines for language, count in counts.items()}
    chosen = wanted if _is_installed(wanted) else former
    found = SpokenLanguages(tuple(chosen), wanted, shares, lines, runtime.clock.time())
    await asyncio.to_thread(save_spoken, data_dir, found)
    if set(found.chosen) != set(former):
        log.info("languages.chosen", languages=",".join(found.chosen), former=",".join(former))
    return found


def _is_installed(languages: Sequence[str]) -> bool:
    """Whether the weights of the embedder for these languages are installed."""
    try:
        choose_builtin(languages).find_weights()
    except ModelNotInstalled:
        return False
    return True
