"""Guard calls of plug-ins: models, embedders and rerankers may raise more than exceptions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.errors import ModelUnavailable
from engine.scheduling.supervisor import is_task_exit
from engine.scheduling.tasks import current_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

MODEL_LABEL = "The language model"


@contextmanager
def guard_plugin_call(plugin: str) -> Iterator[None]:
    """Turn a BaseException that is no Exception into ModelUnavailable, unless it ends this task or the program.

    A library may leak the cancellation of its own scope, and native code may panic; both are failures of one call.
    """
    task = current_task()
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if is_task_exit(error, task):
            raise
        raise ModelUnavailable(f"{plugin} failed ({type(error).__name__}).") from error


async def next_answer_delta(stream: AsyncGenerator[str, None]) -> str | None:
    """The next piece of an answer, None after the last one."""
    with guard_plugin_call(MODEL_LABEL):
        return await anext(stream, None)
