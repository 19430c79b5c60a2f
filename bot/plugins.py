"""Find adapters by entry points: any installed package can add a platform."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from bot.platform.export_readers import ADAPTER_GROUP, list_adapter_names
from engine.errors import NotFound

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from bot.bot import Bot
    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import ChatTurn, Clock

__all__ = [
    "Adapter",
    "ConversationAdapter",
    "Door",
    "list_adapter_names",
    "load_adapter",
    "load_conversation",
    "load_door",
]

CONVERSATION_GROUP = "threadlore.conversations"
DOOR_GROUP = "threadlore.doors"


class Adapter(Protocol):
    """Connects a platform to the bot."""

    async def __call__(self, bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
        """Run until `stop` is set. Raises EngineError if the platform does not let the bot in."""


class ConversationAdapter(Protocol):
    """Connects one person in a terminal to a service, perhaps of another process."""

    async def __call__(
        self, service: AdminService, settings: Settings, *, clock: Clock, history: Sequence[ChatTurn] = ()
    ) -> None:
        """Run; `history` is what was said before."""


class Door(Protocol):
    """Lets programs ask a service, perhaps of another process, with access tokens."""

    async def __call__(
        self,
        service: AdminService,
        settings: Settings,
        stop: asyncio.Event,
        *,
        clock: Clock,
        listening: asyncio.Event | None = None,
    ) -> None:
        """Run until `stop` is set; `listening` is set while requests are accepted. Raises BadSetting."""


def load_adapter(name: str) -> Adapter:
    """The adapter of this name. Raises NotFound."""
    loaded: Adapter = _load_entry_point(ADAPTER_GROUP, name)
    return loaded


def load_conversation(name: str) -> ConversationAdapter:
    """The conversation of this name. Raises NotFound."""
    loaded: ConversationAdapter = _load_entry_point(CONVERSATION_GROUP, name)
    return loaded


def load_door(name: str) -> Door:
    """The door of this name. Raises NotFound."""
    loaded: Door = _load_entry_point(DOOR_GROUP, name)
    return loaded


def _load_entry_point(group: str, name: str) -> Any:
    found = entry_points(group=group, name=name)
    if not found:
        raise NotFound(f"There is no adapter “{name}”.", hint="Install Threadlore: `make demo` or `pip install -e .`.")
    return next(iter(found)).load()
