"""Maintain the data directory: forget a workspace, reindex, verify, export, back up and retry."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.capabilities.documents.forget import erase_bytes, say_forgotten
from bot.capabilities.erasure.erasing import measure
from bot.capabilities.ingest.estimates import estimate_outdated
from bot.capabilities.ingest.progress import (
    count_unindexed,
    reindex_with_progress,
    run_with_progress,
    wait_until_indexed,
)
from bot.capabilities.maintenance import archive
from bot.capabilities.maintenance.archive_key import load_key_file
from bot.capabilities.results import Completed, Erased, ExportLine, ProgressUpdate, VerifyResult
from bot.text.format import pluralize
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import (
        Backup,
        ConfirmRetention,
        Export,
        ForgetWorkspace,
        Reindex,
        Retry,
        Verify,
    )
    from bot.capabilities.results import OperationResult
    from engine import VerificationReport


MAX_LISTED = 5  # documents in the summary of a retry


async def forget_workspace(deps: Deps, caller: Caller, request: ForgetWorkspace) -> AsyncGenerator[OperationResult]:
    """Delete everything of a workspace, also from the bytes of the database files; or only say what would go."""
    parts = await deps.parts.find()
    if parts is None:
        raise NotFound(f"There is no workspace {request.platform}:{request.workspace}.")
    erasure = await measure(deps, caller, lambda planner: planner.plan_workspace(request.platform, request.workspace))
    if request.dry_run:
        yield erasure.rehearse()
        return
    yield ProgressUpdate("forgetting")
    where = f"{request.platform}:{request.workspace}"
    async with erasure.completing("forget-workspace", {"workspace": where}):
        channels = await parts.ingest.forget_workspace(request.platform, request.workspace)
    async for step in erase_bytes(deps):
        yield step
    receipt = await erasure.give_receipt("forget-workspace", {"workspace": where})
    yield Erased(say_forgotten(deps, f"{where} ({pluralize(channels, 'channel')})"), receipt)


async def reindex(deps: Deps, _caller: Caller, _request: Reindex) -> AsyncGenerator[OperationResult]:
    """Rebuild the graph and vector indexes."""
    async for step in reindex_with_progress(deps.engine):
        yield step
    yield Completed("The graph and vector indexes were rebuilt.")


async def verify(deps: Deps, _caller: Caller, request: Verify) -> AsyncGenerator[OperationResult]:
    """Compare the indexes with the ledger; with `repair`, list the differences that remain after the repair."""
    reports = list["VerificationReport"]()

    async def compare() -> None:
        reports.append(await deps.engine.maintenance.verify(repair=request.repair))

    async for step in run_with_progress(deps.engine, "verifying", compare()):
        yield step
    differences = tuple(map(str, reports[0].differences))
    problem, entries = await _verify_audit(deps)
    yield VerifyResult(differences, bool(differences) and request.repair, entries, problem)
    if differences and request.repair:
        report = await deps.engine.maintenance.verify()
        yield VerifyResult(tuple(map(str, report.differences)), audit_entries=entries, audit_problem=problem)


async def _verify_audit(deps: Deps) -> tuple[str, int]:
    """What is wrong with the audit log, which nothing repairs, and how many entries of it are good."""
    parts = await deps.parts.find()
    if parts is None:
        return "", 0
    report = await parts.store.audit.check()
    return report.problem, report.entries


async def export(deps: Deps, caller: Caller, request: Export) -> AsyncGenerator[OperationResult]:
    """Export a space line by line."""
    async with aclosing(deps.engine.maintenance.export(request.export_format, caller.scope)) as lines:
        async for text in lines:
            yield ExportLine(text)


async def backup(deps: Deps, _caller: Caller, request: Backup) -> AsyncGenerator[OperationResult]:
    """Write a backup; the indexes are rebuilt when it is restored."""
    path, key = Path(request.path), load_key_file(Path(request.key_file)) if request.key_file else None
    yield ProgressUpdate("backing up")
    size = await archive.create_backup(deps.engine, path, key)
    how = f"{size / 2**20:.1f} MiB, encrypted" if key else f"{size / 2**20:.1f} MiB"
    yield Completed(f"Backup written: {path} ({how})")


async def confirm_retention(deps: Deps, _caller: Caller, _request: ConfirmRetention) -> AsyncGenerator[OperationResult]:
    """Allow the deletion by age that waits; the bot runs it. Raises NotFound if none waits."""
    held = await (await deps.parts.open()).ingest.confirm_retention()
    yield Completed(
        f"Confirmed: {pluralize(held.documents, 'document')} of {held.total:,} from before {held.oldest:%Y-%m-%d} will"
        " be deleted."
    )


async def retry(deps: Deps, caller: Caller, request: Retry) -> AsyncGenerator[OperationResult]:
    """Retry failed documents and wait for them; failures of former runs are retried at start."""
    engine, scope = deps.engine, caller.scope
    if request.estimate:
        yield await estimate_outdated(deps)
        return
    if request.changed:
        count = await engine.maintenance.reread_outdated()
        async for step in wait_until_indexed(engine, scope, "reading again"):
            yield step
        again = pluralize(count, "chunk")
        yield Completed(f"Read again: {again}." if count else "No chunk was read with other settings than today's.")
        return
    keys = (await engine.maintenance.get_status(scope)).without_vector
    count = await engine.maintenance.retry()
    count = max(count, count_unindexed(await engine.maintenance.get_status(scope)))
    if count or keys:
        async for step in wait_until_indexed(engine, scope, "retrying"):
            yield step
    tried = [pluralize(count, "document")] * bool(count) + [f"{keys:,} without a vector"] * bool(keys)
    failed = [document for document in await engine.documents.list(scope) if document.error] if tried else []
    for document in failed[:MAX_LISTED]:
        yield Completed(f"“{document.title}” failed again: {document.error}")
    yield Completed(f"Retried: {', '.join(tried)}." if tried else "There were no failed documents.")
