"""Guard public methods: repair the text and times of their arguments, and refuse calls after closing."""

from __future__ import annotations

import functools
import inspect
from contextlib import aclosing
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from engine.errors import EngineClosed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

Value = TypeVar("Value")
Guarded = TypeVar("Guarded", bound=type)

PATH = "path"  # parameters of this name are passed on as they are
COLLECTIONS = (tuple, list, frozenset, set)


def repair_surrogates(text: str) -> str:
    """The text as valid Unicode: surrogate pairs are joined, a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def normalize_value(value: Value) -> Value:
    """The value with all text repaired and times without a zone in UTC; the same object if nothing changes."""
    normalized: Any = value
    if isinstance(value, str):
        normalized = repair_surrogates(value)
    elif isinstance(value, datetime):
        normalized = value if value.utcoffset() is not None else value.replace(tzinfo=UTC)
    elif type(value) in COLLECTIONS:
        parts: Any = [normalize_value(part) for part in value]  # type: ignore[attr-defined]
        same = all(part is former for part, former in zip(parts, value, strict=True))  # type: ignore[call-overload]
        normalized = value if same else type(value)(parts)  # type: ignore[call-arg]
    elif is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {name: new for name, part in own.items() if (new := normalize_value(part)) is not part}
        normalized = replace(value, **changed) if changed else value
    result: Value = normalized
    return result


class Closable:
    """Base class of objects that raise EngineClosed after closing."""

    _closed = False

    def _must_be_open(self) -> None:
        if self._closed:
            raise EngineClosed(f"The {type(self).__name__.lower()} is closed.")


def guard_public_methods(cls: Guarded) -> Guarded:
    """Make all public coroutines and async generators of a class check `_must_be_open` and normalize arguments.

    A parameter `path` is passed on as it is: a file name may contain bytes that are not valid Unicode.
    """
    for name, method in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if inspect.iscoroutinefunction(method):
            setattr(cls, name, _wrap_coroutine(method))
        elif inspect.isasyncgenfunction(method):
            setattr(cls, name, _wrap_generator(method))
    return cls


def _find_path(method: Callable[..., Any]) -> int:
    """The position of the parameter `path` after self, -1 if there is none."""
    names = list(inspect.signature(method).parameters)[1:]
    return names.index(PATH) if PATH in names else -1


def _normalize_arguments(path: int, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    return (
        [value if index == path else normalize_value(value) for index, value in enumerate(args)],
        {name: value if name == PATH else normalize_value(value) for name, value in options.items()},
    )


def _wrap_coroutine(method: Callable[..., Any]) -> Callable[..., Any]:
    path = _find_path(method)

    @functools.wraps(method)
    async def checked(self: Any, *args: Any, **options: Any) -> Any:
        self._must_be_open()
        positional, named = _normalize_arguments(path, args, options)
        return await method(self, *positional, **named)

    return checked


def _wrap_generator(method: Callable[..., AsyncGenerator[Any, None]]) -> Callable[..., AsyncGenerator[Any, None]]:
    path = _find_path(method)

    @functools.wraps(method)
    async def checked(self: Any, *args: Any, **options: Any) -> AsyncGenerator[Any, None]:
        self._must_be_open()
        positional, named = _normalize_arguments(path, args, options)
        async with aclosing(method(self, *positional, **named)) as pieces:
            async for piece in pieces:
                self._must_be_open()
                yield piece

    return checked
