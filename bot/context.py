"""Shared dependencies: of operations on the engine, and of the bot's services."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.errors import ChannelGone, NotConnected, PermissionDenied, SetupError, WorkspaceGone
from bot.i18n import SOURCE_LANGUAGE, match_language, match_locale
from bot.permissions.audience import workspace_of_space
from bot.permissions.denials import Denials
from bot.platform.models import Location
from bot.platform.people import build_people_rules, load_people_defaults
from bot.platform.traits import PlatformTraits
from bot.store import ChannelSettings
from bot.texts.disclosure import Disclosure
from bot.texts.permissions import describe_denial
from engine.errors import EngineError
from engine.usage import IndexingLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import tzinfo
    from pathlib import Path

    from bot.permissions.resolver import AudienceResolver
    from bot.platform.models import Card
    from bot.platform.people import PeopleValue
    from bot.platform.ports import Platform, ReplyTarget
    from bot.settings import Settings
    from bot.store import BotStore
    from bot.store.file_fingerprints import FileFingerprints
    from engine import Clock, Engine, FileParser, ParserLimits, RetrievalMode
    from engine.ingest.estimate import IndexingEstimator
    from engine.parsers.sandbox.probe import SandboxProbe
    from engine.usage import RulesExtract


log = structlog.get_logger(__name__)

RULES_EXTRACT: Mapping[str, RulesExtract] = {"model": "nothing", "rules": "everything", "auto": "conversations"}


@dataclass(frozen=True, slots=True)
class EngineContext:
    """The engine, and what ingestion needs.

    `parser` reads all files of this process, so that its workers are shared fairly. `count_tokens` counts o200k_base
    tokens. `upload_dir`: for uploads until they are added. `sandbox`: what bounds parsers. `owner_space`: the space of
    whoever runs the program. `models`: names by purpose. `retrieval_mode`: of questions that name none.
    `erasing_seconds`: within which the bytes of what is forgotten leave the disk. `estimator`: of what texts cost; None
    without a language model. `finds_contradictions`: whether statements are compared with each other.
    """

    engine: Engine
    parser: FileParser
    fingerprints: FileFingerprints
    count_tokens: Callable[[str], int]
    upload_dir: Path
    sandbox: SandboxProbe
    owner_space: str = ""
    models: tuple[tuple[str, str], ...] = ()
    retrieval_mode: RetrievalMode = "mix"
    erasing_seconds: float = 600.0
    estimator: IndexingEstimator | None = None
    finds_contradictions: bool = True

    @property
    def clock(self) -> Clock:
        """The clock of the engine."""
        return self.engine.clock

    @property
    def parser_limits(self) -> ParserLimits:
        """The limits of the parser."""
        return self.parser.limits


def build_indexing_limits(settings: Settings) -> IndexingLimits:
    """What a language model may read of each workspace for the graph."""
    return IndexingLimits(
        settings.indexing_tokens_per_day,
        settings.indexing_tokens_per_month,
        settings.indexing_dollars_per_day,
        settings.indexing_dollars_per_month,
        workspace_of_space,
        RULES_EXTRACT[settings.extraction_by] if settings.llm_model else "everything",
    )


@dataclass(frozen=True, slots=True)
class BotContext:
    """The engine, the bot's database, the audience resolver, the attached platforms by name, settings and the clock."""

    engine_context: EngineContext
    store: BotStore
    audience: AudienceResolver
    platforms: Mapping[str, Platform]
    settings: Settings
    clock: Clock
    denials: Denials = field(default_factory=Denials)

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

    def find_people_value(self, platform: str) -> PeopleValue:
        """What is known of people on a platform."""
        return build_people_rules(self.settings.people, load_people_defaults()).of(platform)

    async def find_opt_out(self, location: Location, person: str, written: datetime | None = None) -> str:
        """Why what a person writes, or wrote then, is not read, in the active language; empty if it may be."""
        if await self.store.opt_outs.is_opted_out(location.platform, location.workspace, person, written):
            return texts.opted_out_notice(self.traits_of(location.platform))
        return ""

    @property
    def disclosure(self) -> Disclosure:
        """What people are told of who answers."""
        return Disclosure(self.settings.privacy_url, self.settings.contact)

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

    async def find_zone(self, location: Location, person: str) -> tzinfo:
        """The time zone of a person, in which their days begin; UTC if their platform tells none."""
        with suppress(EngineError):
            if person:
                found = await self.audience.get_person_at(location, person)
                return found.zone
        return UTC

    async def find_person_language(self, location: Location, person: str, locale: str = "") -> str:
        """The language of what one person reads; `locale`: what their platform reported with an event."""
        if not locale and person:
            with suppress(EngineError):
                locale = (await self.audience.get_person_at(location, person)).locale
        return match_locale(locale) or match_language(self.settings.language) or SOURCE_LANGUAGE

    async def find_channel_language(self, location: Location, person: str = "", locale: str = "") -> str:
        """The language of what all readers of a channel see; `person`: whose event it is about."""
        chosen = match_language((await self.get_channel_settings(location.room)).language)
        if not chosen and not await self.is_direct(location):
            chosen = match_language(self.settings.language)
        return chosen or await self.find_person_language(location, person, locale)

    async def is_direct(self, location: Location) -> bool:
        """Whether a location is the direct messages of a person with the bot, as far as can be known."""
        try:
            return (await self.audience.get_channel_info(location)).kind == "direct"
        except EngineError:
            return False

    async def describe_error(self, error: BaseException, location: Location, reference: str = "") -> str:
        """The sentence for an error of a person's event; a denied permission is named with its channel.

        `reference`: its id in the log.
        """
        if not isinstance(error, PermissionDenied) or isinstance(error, ChannelGone | WorkspaceGone | SetupError):
            return texts.describe_error(error, reference)
        self.denials.note(error, location)
        name = await self.store.channels.get_name(location.room) or ""
        return describe_denial(error, self.traits_of(location.platform), name)

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        """Send a card to one person, unless the platform forbids it. Raises PlatformError for other failures."""
        try:
            await self.platform_for(target.location).send_private(target, card)
        except PermissionDenied as error:
            self.denials.note(error, target.location)
            log.warning("reply.private_message_blocked", channel=target.location.room, error=str(error))
