"""Find readers of exports, and the names of adapters, by entry points: any installed package can add one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from engine.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from bot.platform.history_source import HistorySource
    from engine import Clock

ADAPTER_GROUP = "threadlore.adapters"
EXPORT_GROUP = "threadlore.exports"


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What the person who imports an export says about it.

    `workspace` and `url`: its id and address, where the export does not say them. `direct_messages`: also of people.
    """

    workspace: str = ""
    url: str = ""
    direct_messages: bool = False


class ExportReader(Protocol):
    """Opens exports of a platform; may block."""

    def __call__(self, path: Path, options: ExportOptions, *, clock: Clock) -> HistorySource:
        """Open an export, whose content ends now at the latest. Raises InvalidDocument."""


def load_export_reader(platform: str) -> ExportReader:
    """The reader of a platform's exports. Raises NotFound."""
    if platform not in list_export_platforms():
        known = ", ".join(list_export_platforms())
        raise NotFound(f"Exports of “{platform}” cannot be imported.", hint=f"Those of these platforms can: {known}.")
    [found, *_] = entry_points(group=EXPORT_GROUP, name=platform)
    loaded: ExportReader = found.load()
    return loaded


def list_adapter_names() -> tuple[str, ...]:
    """The platforms with an installed adapter."""
    return tuple(sorted({entry_point.name for entry_point in entry_points(group=ADAPTER_GROUP)}))


def list_export_platforms() -> tuple[str, ...]:
    """The platforms whose exports can be imported."""
    return tuple(sorted({entry_point.name for entry_point in entry_points(group=EXPORT_GROUP)}))
