"""Estimate what files and exports take to be indexed, before a model reads them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.results import EstimateResult, ProgressUpdate
from bot.ingest.estimates import count_message_tokens
from engine import FileParser
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence

    from bot.capabilities.deps import Deps
    from bot.platform.history_source import HistorySource
    from bot.platform.models import Message
    from engine import Document
    from engine.ingest.estimate import IndexingEstimate

    ReadFile = Callable[[Path, FileParser], AsyncGenerator[Document]]
    Step = EstimateResult | ProgressUpdate

SAMPLE_FILES = 24  # that are read for an estimate
SAMPLE_SECONDS = 20.0  # to read them
EXPORT_SECONDS = 120.0  # to count the messages of an export
STAGE = "estimating"


async def estimate_files(deps: Deps, paths: Sequence[Path], read: ReadFile) -> AsyncGenerator[Step]:
    """Yield the progress of reading some of the files, then the estimate of all. No model is called.

    What is not read counts by the bytes of what was, of files with the same suffix if there are any.
    """
    if deps.context.estimator is None:
        yield EstimateResult(len(paths), 0, 0)
        return
    sizes = await asyncio.to_thread(lambda: {path: path.stat().st_size for path in paths})
    sample, tokens = choose_sample(paths), dict[Path, int]()
    limits = replace(deps.context.parser_limits, ocr_program="")
    with suppress(TimeoutError):
        async with FileParser(limits) as parser, asyncio.timeout(SAMPLE_SECONDS):
            for number, path in enumerate(sample):
                yield ProgressUpdate(STAGE, number, len(sample), remaining=path.name)
                tokens[path] = await _count_file(deps, read(path, parser))
            yield ProgressUpdate(STAGE, len(sample), len(sample))
    total = extrapolate_bytes(sizes, tokens)
    yield await add_model_cost(deps, EstimateResult(len(paths), 0, total, is_whole=len(tokens) == len(paths)))


async def estimate_export(deps: Deps, source: HistorySource) -> AsyncGenerator[Step]:
    """Yield the progress of counting messages of an export that are not stored, then the estimate.

    Files of messages are not counted. Raises EngineError.
    """
    channels, clock = await asyncio.to_thread(source.list_channels), deps.clock
    messages = tokens = done = 0
    began = clock.monotonic()
    for channel in channels:
        if clock.monotonic() - began > EXPORT_SECONDS:
            break
        yield ProgressUpdate(STAGE, done, len(channels), remaining=f"{messages:,} messages, now #{channel.name}")
        async for page in _read_new(deps, channel.location.room, source.read_pages(channel.location)):
            messages += len(page)
            tokens += count_message_tokens(page, deps.context.count_tokens)
        done += 1
        yield ProgressUpdate(STAGE, done, len(channels))
    yield await add_model_cost(deps, EstimateResult(0, messages, tokens, is_whole=done == len(channels)))


def choose_sample(paths: Iterable[Path], most: int = SAMPLE_FILES) -> list[Path]:
    """Some of the files: of each suffix in turn, spread over the files with it. Pure."""
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        kinds.setdefault(path.suffix.lower(), []).append(path)
    spread = [found[:: max(1, len(found) // most)] for found in kinds.values()]
    turns = chain.from_iterable(zip_longest(*spread))
    return [path for path in turns if path is not None][:most]


def extrapolate_bytes(sizes: Mapping[Path, int], tokens: Mapping[Path, int]) -> int:
    """The tokens of all files, by those of some; `sizes`: bytes. Pure."""
    overall = _rate(sizes, tokens)
    rates = {
        suffix: _rate(sizes, {path: count for path, count in tokens.items() if path.suffix.lower() == suffix}, overall)
        for suffix in {path.suffix.lower() for path in sizes}
    }
    return round(sum(tokens.get(path, size * rates[path.suffix.lower()]) for path, size in sizes.items()))


def _rate(sizes: Mapping[Path, int], tokens: Mapping[Path, int], default: float = 0.0) -> float:
    """Tokens of a byte."""
    read = sum(sizes[path] for path in tokens)
    return sum(tokens.values()) / read if read else default


async def _count_file(deps: Deps, documents: AsyncGenerator[Document]) -> int:
    """The tokens of the texts of a file; 0 if it cannot be read. A document that comes again replaces itself."""
    found = dict[str, int]()
    with suppress(EngineError, OSError):
        async with aclosing(documents):
            async for document in documents:
                found[document.key] = sum(deps.context.count_tokens(passage.text) for passage in document.passages)
    return sum(found.values())


async def _read_new(deps: Deps, room: str, pages: Iterable[Sequence[Message]]) -> AsyncIterator[list[Message]]:
    """The messages of a channel that are not indexed yet, by page."""
    parts, unread = await deps.parts.find(), iter(pages)
    while (page := await asyncio.to_thread(next, unread, None)) is not None:
        ids = [document.id for document in page]
        stored = await parts.store.messages.list_by_ids(room, ids) if parts is not None else []
        known = {message.id for message in stored if message.is_applied}
        yield [document for document in page if document.id not in known]


async def estimate_outdated(deps: Deps) -> EstimateResult:
    """What it takes to read again what another choice of extraction read; rules cost nothing."""
    found, estimator = await deps.engine.maintenance.measure_outdated(), deps.context.estimator
    paid = found.file_tokens + (found.chat_tokens if estimator and estimator.reads_messages else 0)
    result = EstimateResult(0, 0, found.file_tokens + found.chat_tokens, chunks=found.chunks)
    if estimator is None or not paid:
        return result
    return _add_cost(result, await estimator.estimate(paid))


async def add_model_cost(deps: Deps, found: EstimateResult) -> EstimateResult:
    """The estimate with what the model takes, where one extracts."""
    if deps.context.estimator is None or not (found.files or deps.context.estimator.reads_messages):
        return found
    return _add_cost(found, await deps.context.estimator.estimate(found.text_tokens))


def _add_cost(found: EstimateResult, cost: IndexingEstimate) -> EstimateResult:
    return replace(found, model=cost.model, tokens=cost.tokens, seconds=cost.seconds, dollars=cost.dollars)
