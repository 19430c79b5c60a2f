"""Adapters are found, never imported: whoever installs a package with another entry point has another platform."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from engine.errors import NotFound

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from bot.admin.rpc.service import Service
    from bot.bot import Bot
    from bot.settings import Settings
    from engine.models import Turn

ADAPTERS = "threadlore.adapters"
CONVERSATIONS = "threadlore.conversations"


class Adapter(Protocol):
    """Carries what happens on a platform to the bot, and what the bot says to the platform."""

    async def __call__(self, bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
        """Run until `stop` is set. Raises EngineError if the platform does not let the bot in."""


class Conversation(Protocol):
    """Carries one person's questions to a service, perhaps of another process, until the person leaves."""

    async def __call__(self, service: Service, settings: Settings, *, history: Sequence[Turn] = ()) -> None:
        """Run; `history` is what was said before."""


def adapter(name: str) -> Adapter:
    """The adapter of this name. Raises NotFound."""
    loaded: Adapter = _found(ADAPTERS, name)
    return loaded


def conversation(name: str) -> Conversation:
    """The conversation of this name. Raises NotFound."""
    loaded: Conversation = _found(CONVERSATIONS, name)
    return loaded


def _found(group: str, name: str) -> Any:
    found = entry_points(group=group, name=name)
    if not found:
        raise NotFound(f"There is no adapter “{name}”.", hint="Install Threadlore: `make demo` or `pip install -e .`.")
    return next(iter(found)).load()
