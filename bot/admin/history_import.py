"""Import an export of a workspace, and wait until it is indexed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bot.admin.ingest.progress import wait_until_indexed
from bot.admin.results import HistoryImportResult, ProgressUpdate
from bot.platform.export_readers import ExportOptions, load_export_reader
from engine import Scope
from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.requests import ImportHistory
    from bot.admin.results import OperationResult
    from bot.context import EngineContext


async def import_history(engine_context: EngineContext, request: ImportHistory) -> AsyncGenerator[OperationResult]:
    """Import new messages, edits and files of an export; a second run continues an interrupted one."""
    if engine_context.open_import is None:
        raise StoreError("The bot's database is not open.")
    began = time.monotonic()
    options = ExportOptions(request.workspace, request.url, request.direct_messages)
    source = await asyncio.to_thread(load_export_reader(request.platform), Path(request.path), options)
    try:
        async with engine_context.open_import(source) as running:
            stats, total = running.stats, len(source.list_channels())
            yield ProgressUpdate("importing", 0, total)
            async for channel in running.run():
                yield ProgressUpdate(
                    "importing", stats.channels, total, remaining=f"{stats.seen:,} messages, now #{channel.name}"
                )
        async for step in wait_until_indexed(engine_context.engine, Scope.of(*running.spaces), "indexing"):
            yield step
    finally:
        source.close()
    omissions = stats.omissions + source.omissions  # without those that did not happen
    yield HistoryImportResult(
        stats.channels,
        stats.seen,
        stats.new,
        stats.edited,
        stats.files,
        time.monotonic() - began,
        tuple(sorted(omissions.items())),
    )
