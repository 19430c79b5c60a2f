"""Results without the paths of the server: whoever has a token need not know where a file lies. Pure."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bot.capabilities.documents.lookup import FILE_LINK, public_key
from engine import ManualCorrection

if TYPE_CHECKING:
    from engine.errors import EngineError

Value = TypeVar("Value")

MESSAGE_FIELDS = frozenset({"error", "hint", "trouble", "reasons", "embedding_error", "background"})
KEY_FIELDS = frozenset({"key", "document"})
PATH = re.compile(r"(?<![\w:/.~])(?:file:/+|~)?(?:/[^\s/“”\"'’`:,;]+)*/([^\s/“”\"'’`:,;]+)")


def hide_paths(value: Value) -> Value:
    """A result in which links to files are empty, keys of files have no path, and messages name files alone."""
    hidden: Any = _hide_in(value, "")
    return hidden  # type: ignore[no-any-return]


def hide_paths_of_error(error: EngineError) -> None:
    """Let an error name files without their folders."""
    error.args = (strip_folders(str(error)), *error.args[1:])
    error.hint = strip_folders(error.hint)


def strip_folders(text: str) -> str:
    """A message in which a path is the name of its file; addresses of the web are as they were."""
    return PATH.sub(r"\1", text)


def _hide_in(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return _hide_text(value, name)
    if isinstance(value, tuple | list):
        found = [_hide_in(item, name) for item in value]
        is_same = all(new is old for new, old in zip(found, value, strict=True))
        return value if is_same or hasattr(value, "_fields") else type(value)(found)
    if isinstance(value, ManualCorrection) and value.kind == "split":
        kind, _, key = value.description.partition(" ")  # "document KEY", or a type
        return replace(value, description=f"{kind} {public_key(key)}")
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        hidden = {each: _hide_in(part, each) for each, part in parts.items()}
        changes = {each: part for each, part in hidden.items() if part is not parts[each]}
        return replace(value, **changes) if changes else value
    return value


def _hide_text(text: str, name: str) -> str:
    if name == "link":
        return "" if text.startswith(FILE_LINK) else text
    if name in KEY_FIELDS:
        return public_key(text)
    return strip_folders(text) if name in MESSAGE_FIELDS else text
