"""The guard around calls of plug-ins: models, embedders and rerankers may raise more than exceptions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import Unavailable
from engine.scheduling.supervisor import ends_task
from engine.scheduling.tasks import running_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

MODEL = "The language model"


@contextmanager
def guarded(plugin: str) -> Iterator[None]:
    """Raise Unavailable for whatever is no Exception, unless it ends this task or the program.

    A library may leak the cancellation of its own scope, and a native one panics; both are failures of one call.
    """
    task = running_task()
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if ends_task(error, task):
            raise
        raise Unavailable(f"{plugin} failed ({type(error).__name__}).") from error


async def next_piece(stream: AsyncGenerator[str, None]) -> str | None:
    """The next piece of an answer, None after the last one."""
    with guarded(MODEL):
        return await anext(stream, None)
