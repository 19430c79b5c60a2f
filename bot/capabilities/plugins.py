"""Capabilities of installed packages: entry points of a group, each a function that lists rows."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

    from bot.capabilities.row import Capability

GROUP = "threadlore.capabilities"


def has_plugins() -> bool:
    """Whether an installed package has capabilities; loads none of them."""
    return bool(entry_points(group=GROUP))


def load_rows(taken: Iterable[Capability]) -> list[Capability]:
    """The rows of installed packages, offered wherever they say. Raises BadSetting for what is taken already."""
    listed, rows = list(taken), list["Capability"]()
    for entry in sorted(entry_points(group=GROUP)):
        for row in _load(entry):
            for each in (*listed, *rows):
                if row.name == each.name or row.request.__name__ == each.request.__name__:
                    raise BadSetting(
                        f"The package of “{entry.value}” has a capability “{row.name}” ({row.request.__name__}), which"
                        " exists already.",
                        hint="Remove the package, or ask its author to rename it.",
                    )
            rows.append(replace(row, derived=row.surfaces))
    return rows


def _load(entry: EntryPoint) -> list[Capability]:
    try:
        return [*entry.load()()]
    except Exception as error:
        raise BadSetting(
            f"The capabilities of “{entry.value}” cannot be loaded: {type(error).__name__}: {error}.",
            hint="Update the package, or remove it.",
        ) from error
