"""Find adapters by entry points: any installed package can add a platform."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from bot.platform.export_readers import ADAPTER_GROUP, list_adapter_names
from bot.platform.setups import AccessCheck, Credential, RecognizedText, SetupStep
from engine.errors import NotFound

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from bot.bot import Bot
    from bot.platform.setups import AppVariant
    from bot.rpc.service import AdminService
    from bot.settings import Settings
    from engine import ChatTurn, Clock

__all__ = [
    "AccessCheck",
    "Adapter",
    "ConversationAdapter",
    "Credential",
    "Door",
    "PlatformSetup",
    "RecognizedText",
    "SetupStep",
    "list_adapter_names",
    "list_setup_names",
    "load_adapter",
    "load_conversation",
    "load_door",
    "load_setup",
]

CONVERSATION_GROUP = "threadlore.conversations"
DOOR_GROUP = "threadlore.doors"
SETUP_GROUP = "threadlore.setups"
NOT_INSTALLED_HINT = "Install Threadlore: `make demo` or `pip install -e .`."


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


class PlatformSetup(Protocol):
    """Describes the setup of one platform; an entry point of SETUP_GROUP is its class, without arguments.

    `title`: its name for people. `credentials`: all that its settings can need. `variants`: of the app, the usual one
    first; empty if there is one only.
    """

    title: str
    credentials: Sequence[Credential]
    variants: Sequence[AppVariant]

    def list_needed(self, settings: Settings) -> Sequence[Credential]:
        """The credentials that these settings need, in the order in which a person comes across them."""

    def list_first_steps(self, settings: Settings, variant: str) -> Sequence[SetupStep]:
        """What to do before the credentials can be copied."""

    def list_last_steps(self, settings: Settings) -> Sequence[SetupStep]:
        """What to do once the bot runs, up to the first question."""

    def recognize(self, text: str) -> RecognizedText | None:
        """What a text without blanks is, if it is something that this platform gives out."""

    async def check(self, settings: Settings) -> Sequence[AccessCheck]:
        """Ask the platform about the credentials of the settings. Raises BadSetting."""


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


def list_setup_names() -> tuple[str, ...]:
    """The platforms that describe their setup; loads none of them."""
    return tuple(sorted({entry_point.name for entry_point in entry_points(group=SETUP_GROUP)}, reverse=True))


def load_setup(name: str) -> PlatformSetup:
    """The setup of a platform that has one. Raises NotFound."""
    made: PlatformSetup = _load_entry_point(SETUP_GROUP, name)()
    return made


def _load_entry_point(group: str, name: str) -> Any:
    found = entry_points(group=group, name=name)
    if not found:
        installed = ", ".join(sorted({entry_point.name for entry_point in entry_points(group=group)}))
        hint = f"Those that are installed: {installed}." if installed else NOT_INSTALLED_HINT
        raise NotFound(f"There is no adapter “{name}”.", hint=hint)
    return next(iter(found)).load()
