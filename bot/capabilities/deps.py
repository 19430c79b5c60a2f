"""What handlers work with: the engine, and the parts of the bot over its database."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from bot.errors import NotConnected

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from bot.capabilities.access.control import AccessControl
    from bot.context import EngineContext
    from bot.ingest.service import IngestService
    from bot.monitoring.health import ServerHealth
    from bot.monitoring.metrics import Metrics
    from bot.monitoring.report import BotState
    from bot.store import BotStore, Subject
    from engine import Clock, Document, Engine


class BotManagement(Protocol):
    """What a running bot does for managers outside of the chat."""

    def perform_management(self, subject: Subject, request: Any) -> AsyncGenerator[Any]:
        """Yield the result of a request of bot/capabilities/management."""

    async def get_state(self) -> BotState:
        """The state of the bot."""


@dataclass(frozen=True)
class BotParts:
    """What changes documents and checks callers, over the bot's database. `management`: of a bot that runs."""

    store: BotStore
    open_ingest: Callable[[], IngestService]
    access: AccessControl
    management: BotManagement | None = None

    @cached_property
    def ingest(self) -> IngestService:
        """What changes documents; a question needs none of its modules."""
        return self.open_ingest()

    def require_management(self, platform: str) -> BotManagement:
        """What a running bot does for managers. Raises NotConnected if none runs."""
        if self.management is None:
            raise NotConnected(f"There is no connection to {platform}.")
        return self.management


class PartsSource(Protocol):
    """Where a process has the parts of the bot from."""

    async def find(self) -> BotParts | None:
        """The parts; None if the bot has no database yet. Raises EngineError."""

    async def open(self) -> BotParts:
        """The parts, over a new database if there is none yet. Raises EngineError."""


@dataclass(frozen=True, slots=True)
class RunningParts:
    """The parts of the bot that runs in this process."""

    parts: BotParts

    async def find(self) -> BotParts:
        return self.parts

    async def open(self) -> BotParts:
        return self.parts


@dataclass(frozen=True, slots=True)
class Deps:
    """The services of a process. `metrics` count questions, `health` is what its probes say, of those that have any.

    `ends_soon`: the process ends with its command, so that it leaves nothing for later.
    """

    context: EngineContext
    parts: PartsSource
    metrics: Metrics | None = None
    health: ServerHealth | None = None
    ends_soon: bool = False

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self.context.engine

    @property
    def clock(self) -> Clock:
        """The clock of the engine."""
        return self.context.clock

    async def forget_document(self, key: str) -> bool:
        """Delete a document everywhere; returns whether it existed. Raises EngineError."""
        parts = await self.parts.find()
        return await (parts.ingest.forget_document if parts else self.engine.documents.forget)(key)

    async def replace_document(self, document: Document) -> bool:
        """Ingest a new version; returns whether it changed. Answers that used it are redacted. Raises EngineError."""
        parts = await self.parts.find()
        return await (parts.ingest.replace_document if parts else self.engine.documents.add)(document)
