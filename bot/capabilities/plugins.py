"""Capabilities of installed packages: entry points of a group, each a function that lists rows."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from bot.capabilities.row import Who
from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

    from bot.capabilities.row import Capability

GROUP = "threadlore.capabilities"
# The commands, routes and tools that doors have besides those of the rows; a test compares them with the doors.
DOOR_NAMES = frozenset(
    (
        *("ask-about", "audit", "backup-key", "catch-up", "chat", "check", "connect", "correct", "demo"),
        *("doctor", "entities", "expert", "graph", "help", "init", "learn", "mcp", "my-data.jsonl"),
        *("neighborhood", "openapi.json", "pin", "prompt", "query", "restore", "retention"),
        *("retrieve", "serve", "settings", "setup", "source", "sources", "summaries", "summarize-thread"),
        *("summary", "token", "unanswered"),
    )
)
# Whom handlers check, where they know the channel: nobody would check them before that of a package.
HANDLER_CHECKS = frozenset({Who.CORRECTOR, Who.REVIEWER})


def has_plugins() -> bool:
    """Whether an installed package has capabilities; loads none of them."""
    return bool(entry_points(group=GROUP))


def load_rows(taken: Iterable[Capability]) -> list[Capability]:
    """The rows of installed packages, offered wherever they say. Raises BadSetting for what is taken already."""
    listed, rows = list(taken), list["Capability"]()
    for entry in sorted(entry_points(group=GROUP)):
        for row in _load(entry):
            if row.name in DOOR_NAMES or any(_is_same(row, other) for other in (*listed, *rows)):
                raise BadSetting(
                    f"The package of “{entry.value}” has a capability “{row.name}” ({row.request.__name__}), which"
                    " exists already.",
                    hint="Remove the package, or ask its author to rename it.",
                )
            if row.who in HANDLER_CHECKS:
                raise BadSetting(
                    f"The package of “{entry.value}” leaves it to itself who may use “{row.name}”.",
                    hint="Remove the package, or ask its author to name ANYONE and to check the caller in the handler.",
                )
            rows.append(replace(row, derived=row.surfaces))
    return rows


def _is_same(row: Capability, other: Capability) -> bool:
    return row.name == other.name or row.request.__name__ == other.request.__name__


def _load(entry: EntryPoint) -> list[Capability]:
    try:
        return [*entry.load()()]
    except Exception as error:
        raise BadSetting(
            f"The capabilities of “{entry.value}” cannot be loaded: {type(error).__name__}: {error}.",
            hint="Update the package, or remove it.",
        ) from error
