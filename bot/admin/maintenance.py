"""Keeping the data folder: forgetting, rebuilding, verifying, exporting, backing up, trying again."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from bot.admin.backup import archive
from bot.admin.document_lookup import keys_of, scope_of
from bot.admin.ingest.progress import enduring, settling, unfinished
from bot.admin.results import Advanced, Compared, Done, Line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.admin.requests import Backup, Export, Forget, Rebuild, Retry, Verify
    from bot.admin.results import Event
    from bot.engine_context import Desk
    from engine.projection.verify import Report


LISTED = 5  # documents that failed again


async def forget(desk: Desk, request: Forget) -> AsyncGenerator[Event]:
    """Forget a document, or a whole chat, and let its bytes leave the files."""
    keys = await keys_of(desk, request.document, request.here, scope_of(request.spaces))
    for done, key in enumerate(keys):
        yield Advanced("forgetting", done, len(keys))
        await desk.forget(key)
    what = keys[0] if len(keys) == 1 else f"{len(keys)} conversations of {request.document}"
    yield Advanced("forgetting")
    await desk.engine.compact()
    yield Done(f"Forgotten: {what}")


async def rebuild(desk: Desk, request: Rebuild) -> AsyncGenerator[Event]:  # noqa: ARG001  - a verb's signature
    """Make graph and vectors anew."""
    async for step in enduring(desk.engine, "rebuilding", desk.engine.rebuild()):
        yield step
    yield Done("Graph and vectors were made anew.")


async def verify(desk: Desk, request: Verify) -> AsyncGenerator[Event]:
    """Compared: every difference; with `repair` they were mended, and what is still there is listed after that."""
    reports = list["Report"]()

    async def compare() -> None:
        reports.append(await desk.engine.verify(repair=request.repair))

    async for step in enduring(desk.engine, "comparing", compare()):
        yield step
    differences = tuple(map(str, reports[0].differences))
    yield Compared(differences, repaired=bool(differences) and request.repair)
    if differences and request.repair:
        left = await desk.engine.verify()
        yield Compared(tuple(map(str, left.differences)))


async def export(desk: Desk, request: Export) -> AsyncGenerator[Event]:
    """Line by line."""
    async with aclosing(desk.engine.export(request.form, scope_of(request.spaces))) as lines:
        async for text in lines:
            yield Line(text)


async def backup(desk: Desk, request: Backup) -> AsyncGenerator[Event]:
    """All that is known as one file; graph and vectors are made anew when it is restored."""
    path = Path(request.path)
    yield Advanced("backing up")
    size = await archive.pack(desk.engine, path)
    yield Done(f"Backup written: {path} ({size / 2**20:.1f} MiB)")


async def retry(desk: Desk, request: Retry) -> AsyncGenerator[Event]:
    """Try again what failed, and wait for it; what failed before the program started is under way already."""
    engine, scope = desk.engine, scope_of(request.spaces)
    keys = (await engine.status(scope)).without_vector
    count = await engine.retry()
    count = max(count, unfinished(await engine.status(scope)))
    if count or keys:
        async for step in settling(engine, scope, "trying again"):
            yield step
    tried = [_documents(count)] * bool(count) + [f"{keys:,} without a vector"] * bool(keys)
    failed = [each for each in await engine.documents(scope) if each.error] if tried else []
    for each in failed[:LISTED]:
        yield Done(f"“{each.title}” failed again: {each.error}")
    yield Done(f"Tried again: {', '.join(tried)}." if tried else "Nothing had failed.")


def _documents(count: int) -> str:
    return f"{count:,} document{'' if count == 1 else 's'}"
