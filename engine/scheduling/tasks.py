"""Tasks with an owner: they end before the block or call that started them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Coroutine

Result = TypeVar("Result")


def current_task() -> asyncio.Task[Any] | None:
    """The task that runs this code; None outside of an event loop."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


@asynccontextmanager
async def child_task(work: Coroutine[Any, Any, Result], name: str | None = None) -> AsyncIterator[asyncio.Task[Result]]:
    """Run `work` alongside the block, then cancel and await it; a failure before that is raised.

    Such a failure does not replace an exception of the block itself.
    """
    task = asyncio.create_task(work, name=name)
    try:
        yield task
    except BaseException:
        await cancel_tasks(task)
        raise
    if task.done() and not task.cancelled():
        task.result()
    await cancel_tasks(task)


async def cancel_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until they have ended; their errors are dropped."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.gather(*tasks, return_exceptions=True)


async def gather_or_cancel(*works: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run all concurrently. The first failure cancels the others, waits until they have ended, and is raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        await cancel_tasks(*tasks)
        raise


async def wait_for_completion(work: Awaitable[Result]) -> Result:
    """Await `work` to its end even if this task is cancelled; the cancellation is raised afterwards.

    For native calls, which continue in their threads: their resources must not be released before they end.
    """
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # the caller receives the cancellation, not this error
        raise cancelled
    return task.result()
