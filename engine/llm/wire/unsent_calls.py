"""Close the calls that litellm prepares in a thread and never sends, as their caller was cancelled meanwhile."""

from __future__ import annotations

import importlib
from collections.abc import Coroutine
from contextlib import suppress
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

PREPARERS = (("litellm.main", "completion"), ("litellm.main", "embedding"), ("litellm.rerank_api.main", "rerank"))


class PreparedCall(Coroutine[Any, Any, Any]):
    """A coroutine that sends a call when it is awaited. One that nobody awaits is closed, without a warning."""

    def __init__(self, call: Coroutine[Any, Any, Any]) -> None:
        self._call = call

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._call.__await__()

    def send(self, value: Any) -> Any:
        return self._call.send(value)

    def throw(self, *error: Any) -> Any:
        return self._call.throw(*error)

    def close(self) -> None:
        self._call.close()

    def __del__(self) -> None:
        self._call.close()


def close_unsent_calls() -> None:
    """Let litellm close what it prepared for a caller who was cancelled, instead of losing it."""
    for module_name, name in PREPARERS:
        with suppress(ImportError, AttributeError):  # a part of litellm that may move; then it warns as before
            module: Any = importlib.import_module(module_name)
            prepare = getattr(module, name)
            if prepare.__module__ != __name__:
                setattr(module, name, _wrap(prepare))


def _wrap(prepare: Callable[..., Any]) -> Callable[..., Any]:
    def prepare_closable(*args: Any, **named: Any) -> Any:
        found = prepare(*args, **named)
        return PreparedCall(found) if iscoroutine(found) else found

    return prepare_closable
