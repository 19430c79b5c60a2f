"""What adapters call: the bot receives platform events, answers look-ups and reports its health."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from bot.answers.contradictions.notifier import ContradictionNotifier
from bot.answers.corrections import AnswerCorrector
from bot.answers.digests import DigestWriter
from bot.answers.renewal.renewer import AnswerRenewer
from bot.answers.service import AnswerService
from bot.answers.watches.notifier import WatchNotifier
from bot.capabilities.access.control import AccessControl
from bot.capabilities.deps import BotParts, Deps, RunningParts
from bot.capabilities.maintenance.scheduled import TASK as SCHEDULED_BACKUPS
from bot.capabilities.maintenance.scheduled import ScheduledBackups
from bot.commands.forms.table import build_form, check_form
from bot.commands.home import build_home_card
from bot.commands.management.report import ReportSender
from bot.commands.management.table import perform_management
from bot.dispatch.dispatcher import AttachedPlatforms, Dispatcher
from bot.dispatch.event_queue import EventQueue
from bot.dispatch.filter_suggestions import FilterSuggestions
from bot.dispatch.unstored_questions import UnstoredQuestions
from bot.dispatch.visibility_changes import VisibilityChanges
from bot.ingest.service import IngestService
from bot.ingest.sync.manager_notices import ManagerNotices
from bot.monitoring.health import list_health_problems
from bot.monitoring.metrics import Metrics
from bot.monitoring.report import BotState
from bot.permissions.askers import Quotas
from bot.platform.events import VisibilityChanged
from bot.platform.models import Location
from engine.errors import WRITES_REFUSED, EngineError
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence

    from bot.capabilities.management.requests import ManagementRequest
    from bot.capabilities.results import OperationResult
    from bot.context import BotContext
    from bot.platform.events import ButtonPressed, CommandInvoked, FormSubmitted, PlatformEvent
    from bot.platform.forms import Form, FormOption
    from bot.platform.models import Card
    from bot.platform.ports import Platform
    from bot.store import Subject
    from engine import Clock
    from engine.scheduling.processes import Processes

REFRESH_INTERVAL = 15.0  # seconds between two runs of the monitor


class Bot:
    """One bot for all platforms: `async with Bot.open(...) as bot`.

    An adapter goes through three stages, again after each lost connection. One that connects its workspaces separately
    names the workspace in the calls for visibility, so that the others go on:

    1. starting: the server calls `expect_platform(name)`, so that stored events of the platform wait for it. The
       adapter calls `suspend_visibility(name)` before it receives anything: the audience of a channel may have
       changed while it was not connected.
    2. attached: the adapter calls `attach(platform)` once the platform can be called.
    3. connected: the adapter calls `reconcile(name)`, which fetches missed messages and resumes visibility. From now
       on it passes each event to `receive` with the event's idempotency keys, acknowledges it to the platform when
       `receive` returns, and calls `record_activity` for each sign of life. If its connection does not show when
       events were lost, it calls `refresh_visibility` at short intervals.
    """

    def __init__(self, context: BotContext, attached: AttachedPlatforms, metrics: Metrics) -> None:
        self.context = context
        self.settings = context.settings
        self.store = context.store
        self.metrics = metrics
        limits = context.settings.questions_per_minute, context.settings.daily_token_budget
        self.quotas = Quotas(context.store, *limits, context.clock)
        self.ingest_service = IngestService(context)
        self.answer_service = AnswerService(context, self.quotas, self.ingest_service.files, self.metrics)
        auditors = context.settings.auditor_names
        access = AccessControl(context.store, context.clock, context.audience, self.quotas, auditors)
        parts = BotParts(context.store, lambda: self.ingest_service, access, self)
        self.deps = Deps(context.engine_context, RunningParts(parts), self.metrics)
        self.supervisor = context.engine_context.engine.supervisor
        self.metrics.register_supervisor(self.supervisor)
        services = (self.ingest_service, self.answer_service)
        self.dispatcher = Dispatcher(context, services, self.deps, self.metrics, self._retry_visibility)
        processes = context.engine_context.engine.processes
        self.event_queue = EventQueue(context.store, self.dispatcher, context.clock, self.supervisor, processes)
        self._visibility_changes = VisibilityChanges(context, self.event_queue, self.ingest_service)
        self.corrector = AnswerCorrector(context, renewer=AnswerRenewer(context, self.answer_service))
        self.digests = DigestWriter(
            context, self.answer_service, pending_syncs=lambda: self.ingest_service.pending_syncs
        )
        self.watches = WatchNotifier(context)
        self.contradictions = ContradictionNotifier(context)
        self.backups = ScheduledBackups(context.engine_context.engine, context.settings, ManagerNotices(context))
        self._attached = attached
        self._unstored_questions = UnstoredQuestions(context, self.supervisor)
        self._filter_suggestions = FilterSuggestions(context)

    @property
    def clock(self) -> Clock:
        """The clock that the bot was opened with."""
        return self.context.clock

    @classmethod
    @asynccontextmanager
    async def open(
        cls, context: BotContext, attached: AttachedPlatforms, metrics: Metrics | None = None
    ) -> AsyncIterator[Bot]:
        """Start to process the stored events; on exit, events that are being processed are finished first.

        `attached`: the platforms of the context. `metrics`: of the process; None if nobody else reads them.
        """
        await context.store.answers.redact_pending()
        bot = cls(context, attached, metrics or Metrics(context.clock))
        await bot.ingest_service.complete_erasures()
        async with bot.event_queue:
            run = bot.supervisor.run
            tasks = (
                run("background work", bot.ingest_service.run),
                run("answer corrections", bot.corrector.run),
                run("digests", bot.digests.run),
                run("watches", bot.watches.run),
                run("reports", ReportSender(bot).run),
                run("watch", bot._monitor),
                run(SCHEDULED_BACKUPS, bot.backups.run),
                *([run("contradictions", bot.contradictions.run)] if bot.settings.contradictions == "on" else []),
            )
            try:
                yield bot
            finally:
                await cancel_tasks(*tasks)

    @property
    def processes(self) -> Processes:
        """All processes that work on the same data."""
        return self.context.engine_context.engine.processes

    def expect_platform(self, platform: str) -> None:
        """Let stored events of a platform wait until it is attached."""
        self._attached.expected.add(platform)

    def stand_by(self, platform: str) -> None:
        """Count as healthy without a platform to which other processes are connected; `expect_platform` undoes it."""
        self._attached.expected.discard(platform)
        self.metrics.forget_activity(platform)

    async def list_workspaces(self, platform: str) -> set[str]:
        """The workspaces of the channels that are known. Raises StoreError."""
        return {channel.workspace for channel in await self.store.channels.list_joined(platform)}

    def attach(self, platform: Platform) -> None:
        """Use a platform from now on, and retry what waits for it."""
        self._attached.attach(platform)
        self.store.answer_corrections.updated.set()
        self.record_activity(platform.name)
        self.event_queue.retry_now()

    def record_activity(self, platform: str) -> None:
        """Record a sign of life of a platform."""
        self.metrics.record_activity(platform)

    def record_skipped_event(self, platform: str, kind: str) -> None:
        """Count an event of a platform that could not be read."""
        self.metrics.record_skipped_event(platform, kind)

    def report_lacking(self, platform: str, workspace: str, permissions: Sequence[str]) -> None:
        """Have managers of a workspace told what the bot is not allowed to do there."""
        self.context.denials.add(Location(platform, workspace, ""), permissions)

    def suspend_visibility(self, platform: str, workspace: str = "") -> None:
        """Use no cached audience of a workspace, or of a platform, until `reconcile` has run for it.

        The audience may have changed unnoticed.
        """
        self._visibility_changes.suspend(platform, workspace)

    async def save_suspensions(self) -> None:
        """Wait until the suspensions so far hold for all processes on the database."""
        await self.context.audience.shared.wait_until_saved()

    def list_wanted_workspaces(self, platform: str) -> set[str]:
        """Suspended workspaces of a platform in which a question waited: reconcile these first."""
        return self.context.audience.shared.list_wanted(platform)

    async def reconcile(self, platform: str, workspace: str = "") -> None:
        """Fetch what was missed while a workspace, or a platform, was not connected, and resume visibility."""
        self.event_queue.retry_now()
        await self._visibility_changes.reconcile(platform, workspace)

    async def refresh_visibility(self, platform: str, workspace: str = "") -> None:
        """Compare the audiences of channels with the platform, whose connection does not show that events were lost.

        Raises EngineError; the shared spaces are then suspended until the comparison succeeds.
        """
        await self._visibility_changes.refresh(platform, workspace)

    async def receive(self, event: PlatformEvent, *keys: str) -> bool:
        """Store an event; durable when it returns. False if an event with one of the keys was stored before.

        Raises StoreError. Who asked something is told if the database takes no changes.
        """
        if isinstance(event, VisibilityChanged):
            return await self._visibility_changes.receive(event, *keys)
        try:
            return await self.event_queue.enqueue(event, *keys)
        except WRITES_REFUSED as error:
            self._unstored_questions.tell_later(event, error)
            raise

    async def suggest_names(self, person: str, location: Location, prefix: str) -> list[str]:
        """Entity names with this prefix that the person may read; none if that cannot be looked up."""
        with suppress(EngineError):
            return await self.context.engine_context.engine.graph.find_names(
                prefix, await self.context.audience.scope_for_person(location, person)
            )
        return []

    async def build_form(self, event: CommandInvoked | ButtonPressed) -> Form | None:
        """The form that an interaction opens, which an adapter shows at once; None if it opens none.

        Without a form, or if the platform refuses it, the event is received as any other. With one, it is received
        only if Form.handles_event says so, with ButtonPressed.opens_form and before the form is shown.
        """
        return await build_form(self.dispatcher, event)

    def check_form(self, submitted: FormSubmitted) -> Mapping[str, str]:
        """What is wrong with the answers of a form, by field. Without errors, the adapter receives the event."""
        return check_form(submitted)

    async def suggest_filter(self, person: str, location: Location, name: str, typed: str) -> list[FormOption]:
        """Values of a search filter that continue what a person typed, from what they may read."""
        return await self._filter_suggestions.suggest(person, location, name, typed)

    async def build_home_card(self, platform: str, workspace: str, person: str) -> Card:
        """One person's overview: the indexed documents that they may read, and the commands that they have."""
        return await build_home_card(self.context, platform, workspace, person, self.clock.now())

    def list_health_problems(self) -> list[str]:
        """Why the bot is unhealthy; empty if it is healthy."""
        return list_health_problems(self.metrics, self._attached.expected, working=self.event_queue.is_running)

    async def limitations(self) -> list[str]:
        """Failures that do not stop the bot: background work that fails, events given up, sources that are not read."""
        return [
            *await self.context.engine_context.engine.maintenance.list_problems(),
            *await self.event_queue.limitations(),
            *await self.ingest_service.sources.list_problems(),
        ]

    # What managers do outside of the chat (`BotManagement`).

    def perform_management(self, subject: Subject, request: ManagementRequest) -> AsyncGenerator[OperationResult]:
        """Yield the result of a request."""
        return perform_management(self.dispatcher, subject, request)

    async def get_state(self) -> BotState:
        """The state of the bot, its connections and its queue."""
        return BotState(
            tuple(self.list_health_problems()),
            tuple(await self.limitations()),
            {platform: self.metrics.seconds_since_activity(platform) for platform in self.context.platforms},
            await self.event_queue.depth(),
            await self.store.event_queue.find_ages(self.clock.time()),
        )

    def _retry_visibility(self, change: VisibilityChanged) -> None:
        self._visibility_changes.retry_later(change)

    async def _monitor(self) -> None:
        """Update the metrics and retry failed visibility changes, every REFRESH_INTERVAL seconds."""
        engine = self.context.engine_context.engine
        while True:
            self.metrics.set_queue_depth(await self.event_queue.depth())
            self.metrics.set_queue_ages(await self.store.event_queue.find_ages(self.clock.time()))
            self.metrics.set_database_wait("ledger", engine.maintenance.database_wait_seconds)
            self.metrics.set_database_wait("bot", self.store.database_wait_seconds)
            self.metrics.set_takeovers(engine.processes.taken_over)
            self.metrics.set_pending_documents(await engine.maintenance.count_pending_documents())
            self.metrics.set_given_up(await engine.maintenance.count_given_up())
            self.metrics.set_incomplete_chunks(await engine.maintenance.count_incomplete())
            self.metrics.set_outdated_chunks(await engine.maintenance.count_outdated())
            self.metrics.set_extraction_failures(engine.maintenance.extraction_failures)
            await self._visibility_changes.retry_failed()
            self.supervisor.record_success("watch")
            await asyncio.sleep(REFRESH_INTERVAL)
