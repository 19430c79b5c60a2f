"""A page that sets the program up in a browser of this computer, before there are settings."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from bot.setup.draft import SetupDraft
    from engine import Clock

SETUP_PAGE_GROUP = "threadlore.setup_pages"


class SetupPage(Protocol):
    """Asks a person in a browser what `threadlore init` asks in a terminal."""

    async def __call__(
        self, draft: SetupDraft, stop: asyncio.Event, *, clock: Clock, announce: Callable[[str, str], None]
    ) -> bool:
        """Serve until the settings are written, or until `stop` is set; returns whether they are.

        `announce` shows the address and the one-time code in the terminal. Raises BadSetting, PortInUse.
        """


def load_setup_page() -> SetupPage | None:
    """The page of an installed package; None if there is none."""
    for entry_point in entry_points(group=SETUP_PAGE_GROUP):
        loaded: SetupPage = entry_point.load()
        return loaded
    return None
