"""A command of the table, and one call of it with its services and permissions."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from bot.audit import recording
from bot.capabilities.access.audit import describe_request
from bot.capabilities.caller import Caller
from bot.capabilities.run import run_for_person
from bot.capabilities.table import find_row
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.permissions.managers import is_workspace_manager, may_manage
from bot.permissions.provenance import Provenance, can_read, provenance_of_answer, provenance_of_room
from bot.store import Subject
from bot.store.access.audit_log import AuditEvent
from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import datetime

    from bot.answers.service import AnswerService
    from bot.audit import ChangeRecord
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import HandlerResult
    from bot.context import BotContext
    from bot.ingest.service import IngestService
    from bot.platform.events import CommandInvoked
    from bot.platform.models import Card, Location
    from bot.platform.traits import PlatformTraits
    from bot.settings import Settings
    from bot.store import BotStore, StoredAnswer
    from engine import Engine, Scope

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what runs it, and its help.

    `usage` shows its arguments. In `details`, {} is replaced by the platform's command prefix. `needs_file`: it
    exists only where a file can be attached to a command. `in_direct`: whether direct messages are a place for it.
    `is_listed`: whether the list of all commands shows it; another command names those that it leaves out.
    """

    handler: Callable[[CommandContext], Awaitable[Card | None]]
    summary: str
    usage: str = ""
    details: str = ""
    examples: tuple[str, ...] = ()
    managers_only: bool = False
    needs_file: bool = False
    in_direct: bool = True
    is_listed: bool = True


class BotServices(Protocol):
    """The parts of the bot that commands need."""

    @property
    def context(self) -> BotContext: ...
    @property
    def ingest_service(self) -> IngestService: ...
    @property
    def answer_service(self) -> AnswerService: ...
    @property
    def deps(self) -> Deps: ...


@dataclass(frozen=True, slots=True)
class PersonAtPlace:
    """A person in a channel, or in a workspace outside of its channels, and what they may do there.

    `now`: when they asked for something, the same if it is done again after a restart.
    """

    services: BotServices
    location: Location
    person: str
    now: datetime

    @property
    def traits(self) -> PlatformTraits:
        """The traits of the platform where it was sent."""
        return self.services.context.traits_of(self.location.platform)

    @property
    def may_post(self) -> bool | None:
        """Whether their platform lets them post there; None if it did not say."""
        return None

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self.services.context.engine_context.engine

    @property
    def store(self) -> BotStore:
        """The bot's own database."""
        return self.services.context.store

    @property
    def settings(self) -> Settings:
        """The settings of this run."""
        return self.services.context.settings

    async def resolve_scope(self) -> Scope:
        """What the caller may read; only the caller sees the result."""
        return await self.services.context.audience.scope_for_person(self.location, self.person)

    async def perform(self, request: OperationRequest) -> list[HandlerResult]:
        """All results of a request of the caller in this place. Raises EngineError."""
        return [result async for result in run_for_person(self.services.deps, await self.build_caller(), request)]

    async def build_caller(self) -> Caller:
        """The person in this place, with what they may read now."""
        location, scope = self.location, await self.resolve_scope()
        subject = Subject(location.platform, location.workspace, self.person)
        is_direct = await self.is_direct()
        return Caller(
            "person", subject, scope, location, self.may_post, time=self.now, door="chat", is_direct=is_direct
        )

    @property
    def subject(self) -> Subject:
        """The caller as a person of their workspace."""
        return Subject(self.location.platform, self.location.workspace, self.person)

    async def is_direct(self) -> bool:
        """Whether the place is, or might be, the caller's direct messages, which the audit log does not name."""
        return await self.services.context.audience.is_direct(self.location)

    @asynccontextmanager
    async def recording(self, request: object, name: str = "") -> AsyncIterator[ChangeRecord]:
        """Write to the audit log that a change by the caller begins, and how it ends.

        `request`: which the row of that change takes, or its `name`. For what no request carries out.
        """
        location, is_direct = self.location, await self.is_direct()
        subject = Subject(location.platform, location.workspace, self.person)
        change = describe_request(name or find_row(type(request)).name, request, subject)
        place = "" if is_direct else location.room
        if is_direct and change.place == location.room:
            change = replace(change, place="")
        async with recording(self.store.audit, AuditEvent("", "", subject, "chat", place), change) as record:
            yield record

    async def get_result(self, request: OperationRequest, kind: type[Result]) -> Result:
        """The first result of a kind, of a request of the caller in this place. Raises EngineError."""
        async with aclosing(run_for_person(self.services.deps, await self.build_caller(), request)) as results:
            async for result in results:
                if isinstance(result, kind):
                    return result
        raise StoreError("The request ended without a result.")

    async def can_read(self, room: str) -> bool:
        """Whether the caller may read a room now, in whichever space it currently is."""
        return await self.can_read_all(provenance_of_room(room))

    async def can_read_answer(self, stored: StoredAnswer) -> bool:
        """Whether the caller certainly may read now all that an answer rests on."""
        return await self.can_read_all(provenance_of_answer(stored))

    async def can_read_all(self, used: Provenance) -> bool:
        """Whether the caller certainly may read all of that now."""
        return bool(await can_read(self.services.context.audience, used, self.location, self.person))

    async def find_last_message_time(self) -> datetime | None:
        """The time of the last stored message here; None if there is none, or the caller may not read it."""
        room = self.location.room
        return await self.store.messages.get_newest_time(room) if await self.can_read(room) else None

    async def is_manager(self) -> bool:
        """Whether the caller is a manager of the workspace."""
        location = self.location
        person = await self.services.context.audience.get_person_at(location, self.person)
        return is_workspace_manager(person)

    async def require_manager(self, what: str) -> None:
        """Raise NotAllowed for everyone but managers; in a direct message everyone is a manager."""
        if not await may_manage(self.services.context.audience, self.location, self.person):
            raise _describe_refusal(what)

    async def require_workspace_manager(self, what: str) -> None:
        """Raise NotAllowed for everyone but managers of the workspace, also in a direct message.

        For what is about other people.
        """
        if not await self.is_manager():
            raise _describe_refusal(what)

    def format_example(self, words: str) -> str:
        """A command as typed on this platform, as inline code."""
        return f"`{self.traits.format_command(words)}`"


def _describe_refusal(what: str) -> NotAllowed:
    text = gettext("Only managers of this workspace can {what}.").format(what=what)
    return NotAllowed(text, hint=gettext("Ask one of them."))


@dataclass(frozen=True, slots=True)
class CommandContext(PersonAtPlace):
    """One call of a command, by a person in a channel."""

    invocation: CommandInvoked

    @classmethod
    def of(cls, services: BotServices, invocation: CommandInvoked, now: datetime) -> CommandContext:
        """The call of a command at the place where it was sent."""
        return cls(services, invocation.location, invocation.person, now, invocation)

    @property
    def may_post(self) -> bool | None:
        """Whether the platform of the caller lets them post there."""
        return self.invocation.may_write

    @property
    def arguments(self) -> str:
        """The text after the command's name."""
        return self.invocation.words.strip()

    @property
    def is_public(self) -> bool:
        """Whether others may see the result, because the command was a message to the bot."""
        return self.invocation.message is not None and not self.invocation.handle
