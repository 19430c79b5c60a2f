"""Adapters are found, never imported: whoever installs a package with another entry point has another platform."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.service import Service
    from bot.settings import Settings
    from engine.records import Turn

GROUP = "threadlore.adapters"


class Adapter(Protocol):
    """Carries questions and answers between a platform and a service, until it is told to stop."""

    async def __call__(self, service: Service, settings: Settings, *, history: Sequence[Turn] = ()) -> None:
        """Run; `history` is what was said before."""


def adapter(name: str) -> Adapter:
    """The adapter of this name. Raises NotFound."""
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise NotFound(f"There is no adapter “{name}”.", hint="Install Threadlore: `make demo` or `pip install -e .`.")
    loaded: Adapter = next(iter(found)).load()
    return loaded
