"""Maintain the data directory: forget, reindex, verify, export, back up and retry."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities import archive
from bot.capabilities.document_lookup import resolve_documents
from bot.capabilities.ingest.progress import count_unindexed, run_with_progress, wait_until_indexed
from bot.capabilities.results import Completed, ExportLine, ProgressUpdate, VerifyResult
from bot.text.format import pluralize
from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.requests import (
        Backup,
        ConfirmRetention,
        Export,
        Forget,
        ForgetWorkspace,
        Reindex,
        Retry,
        Verify,
    )
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext
    from engine import VerificationReport


MAX_LISTED = 5  # documents in the summary of a retry


async def forget(engine_context: EngineContext, request: Forget) -> AsyncGenerator[OperationResult]:
    """Delete a document or a whole chat, also from the bytes of the database files."""
    keys = await resolve_documents(engine_context, request.document, request.working_dir, request.scope)
    for done, key in enumerate(keys):
        yield ProgressUpdate("forgetting", done, len(keys))
        await engine_context.forget_document(key)
    what = keys[0] if len(keys) == 1 else f"{len(keys)} conversations of {request.document}"
    yield ProgressUpdate("forgetting")
    await engine_context.engine.compact()
    yield Completed(f"Forgotten: {what}")


async def forget_workspace(engine_context: EngineContext, request: ForgetWorkspace) -> AsyncGenerator[OperationResult]:
    """Delete everything of a workspace, also from the bytes of the database files."""
    if engine_context.forget_workspace is None:
        raise StoreError("The bot's database is not open.")
    yield ProgressUpdate("forgetting")
    channels = await engine_context.forget_workspace(request.platform, request.workspace)
    await engine_context.engine.compact()
    yield Completed(f"Forgotten: {request.platform}:{request.workspace} ({pluralize(channels, 'channel')})")


async def reindex(engine_context: EngineContext, request: Reindex) -> AsyncGenerator[OperationResult]:  # noqa: ARG001  - a verb's signature
    """Rebuild the graph and vector indexes."""
    async for step in run_with_progress(engine_context.engine, "reindexing", engine_context.engine.reindex()):
        yield step
    yield Completed("The graph and vector indexes were rebuilt.")


async def verify(engine_context: EngineContext, request: Verify) -> AsyncGenerator[OperationResult]:
    """Compare the indexes with the ledger; with `repair`, list the differences that remain after the repair."""
    reports = list["VerificationReport"]()

    async def compare() -> None:
        reports.append(await engine_context.engine.verify(repair=request.repair))

    async for step in run_with_progress(engine_context.engine, "verifying", compare()):
        yield step
    differences = tuple(map(str, reports[0].differences))
    yield VerifyResult(differences, repaired=bool(differences) and request.repair)
    if differences and request.repair:
        report = await engine_context.engine.verify()
        yield VerifyResult(tuple(map(str, report.differences)))


async def export(engine_context: EngineContext, request: Export) -> AsyncGenerator[OperationResult]:
    """Export a space line by line."""
    async with aclosing(engine_context.engine.export(request.export_format, request.scope)) as lines:
        async for text in lines:
            yield ExportLine(text)


async def backup(engine_context: EngineContext, request: Backup) -> AsyncGenerator[OperationResult]:
    """Write a backup; the indexes are rebuilt when it is restored."""
    path = Path(request.path)
    yield ProgressUpdate("backing up")
    size = await archive.create_backup(engine_context.engine, path)
    yield Completed(f"Backup written: {path} ({size / 2**20:.1f} MiB)")


async def confirm_retention(
    engine_context: EngineContext,
    request: ConfirmRetention,  # noqa: ARG001  - a verb's signature
) -> AsyncGenerator[OperationResult]:
    """Allow the deletion by age that waits; the bot runs it. Raises NotFound if none waits."""
    if engine_context.confirm_retention is None:
        raise StoreError("The bot's database is not open.")
    held = await engine_context.confirm_retention()
    yield Completed(
        f"Confirmed: {pluralize(held.documents, 'document')} of {held.total:,} from before {held.oldest:%Y-%m-%d} will"
        " be deleted."
    )


async def retry(engine_context: EngineContext, request: Retry) -> AsyncGenerator[OperationResult]:
    """Retry failed documents and wait for them; failures of former runs are retried at start."""
    engine, scope = engine_context.engine, request.scope
    keys = (await engine.get_status(scope)).without_vector
    count = await engine.retry()
    count = max(count, count_unindexed(await engine.get_status(scope)))
    if count or keys:
        async for step in wait_until_indexed(engine, scope, "retrying"):
            yield step
    tried = [pluralize(count, "document")] * bool(count) + [f"{keys:,} without a vector"] * bool(keys)
    failed = [each for each in await engine.list_documents(scope) if each.error] if tried else []
    for each in failed[:MAX_LISTED]:
        yield Completed(f"“{each.title}” failed again: {each.error}")
    yield Completed(f"Retried: {', '.join(tried)}." if tried else "There were no failed documents.")
