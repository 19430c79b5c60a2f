"""Shared dependencies: of operations on the engine, and of the bot's services."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from bot.errors import NotConnected, PermissionDenied
from bot.i18n import SOURCE_LANGUAGE, match_language, match_locale
from bot.platform.models import Location
from bot.platform.traits import PlatformTraits
from bot.store import ChannelSettings
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from bot.access.control import AccessControl
    from bot.monitoring.health import ServerHealth
    from bot.monitoring.report import BotState
    from bot.permissions.import_destination import ImportDestination
    from bot.permissions.resolver import AudienceResolver
    from bot.platform.history_source import HistorySource, RunningImport
    from bot.platform.models import Card
    from bot.platform.ports import Platform, ReplyTarget
    from bot.settings import Settings
    from bot.store import BotStore, Subject
    from bot.store.file_fingerprints import FileFingerprints
    from bot.store.schedules.retention import HeldDeletion
    from engine import Answer, Clock, Document, Engine, FileParser, ParserLimits, SandboxProbe, Usage

    OpenImport = Callable[[HistorySource, ImportDestination | None], AbstractAsyncContextManager[RunningImport]]

log = structlog.get_logger(__name__)


class QuestionMetrics(Protocol):
    """Counts questions that programs ask."""

    def record_question(self, platform: str, outcome: str) -> None:
        """Count a question whose handling ended, with an answer or without one."""

    def record_first_token(self, platform: str, seconds: float) -> None:
        """Record the time from a question to the first words of its answer."""

    def record_retrieval(self, timings: Mapping[str, float]) -> None:
        """Record the milliseconds that each stage of a retrieval took."""

    def record_usage(self, usage: Iterable[Usage]) -> None:
        """Count the tokens of model calls."""


class FileTarget(Protocol):
    """Where the documents of one uploaded file are added. `key`: of the first one."""

    @property
    def key(self) -> str: ...
    @property
    def space(self) -> str: ...
    @property
    def room(self) -> str: ...

    async def add(self, document: Document) -> bool:
        """Add a document of the file; returns whether anything changed."""

    async def finish(self, keys: Collection[str]) -> bool:
        """Forget what an earlier version had besides these documents; returns whether there was any."""


class BotManagement(Protocol):
    """What a running bot does for managers outside of the chat."""

    def perform_management(self, request: Any) -> AsyncGenerator[Any]:
        """Yield the result of a request of bot/capabilities/management. Raises NotAllowed for all but managers."""

    async def check_manager(self, subject: Subject) -> None:
        """Raise NotAllowed unless a person is a manager of their workspace now."""

    async def get_state(self) -> BotState:
        """The state of the bot."""


@dataclass(frozen=True, slots=True)
class EngineContext:
    """The engine, and what ingestion needs.

    `count_tokens` counts o200k_base tokens. `forget_document` deletes a document everywhere and returns whether it
    existed. `replace_document` ingests a new version, returns whether it changed, and redacts answers that used it.
    `parser` reads all files of this process, so that its workers are shared fairly. `open_import` prepares an import of
    the past of a workspace; `forget_workspace` deletes all of one and returns the number of its channels.
    `confirm_retention` allows a deletion that waits. `open_access` checks access tokens. `open_personal_file` adds an
    upload to what a person shared with the bot alone. All five are None where only the engine is open. `observe_answer`
    receives each answer before its text. `upload_dir`: for uploads until they are added. `question_metrics` counts the
    questions of programs. `management`: of the running bot, if there is one. `health`: what the probes of this process
    say. `owner_space`: the space of whoever runs the program. `models`: names by purpose. `sandbox`: what bounds
    parsers.
    """

    engine: Engine
    parser: FileParser
    fingerprints: FileFingerprints
    count_tokens: Callable[[str], int]
    forget_document: Callable[[str], Awaitable[bool]]
    replace_document: Callable[[Document], Awaitable[bool]]
    open_import: OpenImport | None = None
    forget_workspace: Callable[[str, str], Awaitable[int]] | None = None
    confirm_retention: Callable[[], Awaitable[HeldDeletion]] | None = None
    open_access: Callable[[], AbstractAsyncContextManager[AccessControl]] | None = None
    observe_answer: Callable[[Answer], None] | None = None
    question_metrics: QuestionMetrics | None = None
    open_personal_file: Callable[[Subject, str], Awaitable[FileTarget]] | None = None
    upload_dir: Path | None = None
    management: BotManagement | None = None
    health: ServerHealth | None = None
    owner_space: str = ""
    models: tuple[tuple[str, str], ...] = ()
    sandbox: SandboxProbe | None = None

    @property
    def clock(self) -> Clock:
        """The clock of the engine."""
        return self.engine.clock

    @property
    def parser_limits(self) -> ParserLimits:
        """The limits of the parser."""
        return self.parser.limits


@dataclass(frozen=True, slots=True)
class BotContext:
    """The engine, the bot's database, the audience resolver, the attached platforms by name, settings and the clock."""

    engine_context: EngineContext
    store: BotStore
    audience: AudienceResolver
    platforms: Mapping[str, Platform]
    settings: Settings
    clock: Clock

    def platform_for(self, location: Location) -> Platform:
        """The platform of a location. Raises NotConnected."""
        try:
            return self.platforms[location.platform]
        except KeyError as error:
            raise NotConnected(f"There is no connection to {location.platform}.") from error

    def serves(self, location: Location) -> bool:
        """Whether this process handles the events of a location's workspace."""
        attached = self.platforms.get(location.platform)
        return attached is not None and attached.serves(location.workspace)

    def traits_of(self, platform: str) -> PlatformTraits:
        """The traits of a platform; the default ones until it is attached."""
        attached = self.platforms.get(platform)
        return attached.traits if attached else PlatformTraits()

    async def get_channel_settings(self, room: str) -> ChannelSettings:
        """What managers set for a channel; a channel without settings is read if its platform reads by default."""
        if found := await self.store.channel_settings.get(room):
            return found
        platform = self.platforms.get(Location.from_room(room).platform)
        return ChannelSettings(ingest=platform is not None and platform.traits.reads_by_default)

    async def indexes_bot_messages(self, room: str) -> bool:
        """Whether the messages and files of other bots in a channel are read."""
        chosen = (await self.get_channel_settings(room)).bot_messages
        return chosen == "on" if chosen else self.settings.index_bot_messages

    async def suggests_questions(self, room: str) -> bool:
        """Whether answers in a channel suggest further questions."""
        chosen = (await self.get_channel_settings(room)).suggestions
        return chosen == "on" if chosen else self.settings.suggestions

    async def find_person_language(self, location: Location, person: str, locale: str = "") -> str:
        """The language of what one person reads; `locale`: what their platform reported with an event."""
        if not locale and person:
            with suppress(EngineError):
                locale = (await self.audience.get_person(location.platform, location.workspace, person)).locale
        return match_locale(locale) or match_language(self.settings.language) or SOURCE_LANGUAGE

    async def find_channel_language(self, location: Location, person: str = "", locale: str = "") -> str:
        """The language of what all readers of a channel see; `person`: whose event it is about."""
        chosen = match_language((await self.get_channel_settings(location.room)).language)
        if not chosen and not await self._is_direct(location):
            chosen = match_language(self.settings.language)
        return chosen or await self.find_person_language(location, person, locale)

    async def _is_direct(self, location: Location) -> bool:
        try:
            return (await self.audience.get_channel_info(location)).kind == "direct"
        except EngineError:
            return False

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        """Send a card to one person, unless the platform forbids it. Raises PlatformError for other failures."""
        try:
            await self.platform_for(target.location).send_private(target, card)
        except PermissionDenied as error:
            log.warning("reply.private_message_blocked", channel=target.location.room, error=str(error))
