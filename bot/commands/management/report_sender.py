"""Send the weekly reports that are due, as answers of the bot: a message that one quotes goes from it, too."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from bot.answers.watches.unasked import UnaskedAnswers
from bot.commands.context import PersonAtPlace
from bot.commands.management.report import WEEK, write_report
from bot.errors import ChannelGone, PermissionDenied, PlatformError, SetupError, WorkspaceGone
from bot.i18n import gettext, use_language
from bot.permissions.managers import is_workspace_manager
from bot.platform.models import AnswerFooter
from bot.store import AnswerResult
from bot.store.models import REPORT_PREFIX

if TYPE_CHECKING:
    from bot.commands.context import BotServices
    from bot.store.schedules.reports import DueReport

log = structlog.get_logger(__name__)

POLL_SECONDS = 300.0


class ReportSender:
    """Sends due reports; one that fails is sent later, one that was begun goes on after a restart."""

    def __init__(self, services: BotServices) -> None:
        self._services = services
        self._context = services.context
        self._store = services.context.store
        self._answers = UnaskedAnswers(services.context)

    async def run(self) -> None:
        """Send until cancelled; one process at a time does, each for the workspaces it serves."""
        while True:
            if await self._store.reports.list_due(self._context.clock.now()):
                async with self._context.engine_context.engine.processes.try_lease("reports") as is_held:
                    if is_held:
                        await self.send_due()
            await asyncio.sleep(POLL_SECONDS)

    async def send_due(self) -> None:
        """Send the reports that are due, for managers alone."""
        for due in await self._store.reports.list_due(self._context.clock.now()):
            if not self._context.serves(due.place):
                continue
            place = due.place
            try:
                known = await self._context.audience.get_person(place.platform, place.workspace, due.person)
                if not is_workspace_manager(known):
                    await self._store.reports.delete(place.platform, place.workspace, due.person)
                    continue
                await self._send(due)
            except (ChannelGone, WorkspaceGone):
                await self._store.reports.delete(place.platform, place.workspace, due.person)
            except PlatformError as error:
                log.warning("report.postponed", error=type(error).__name__)
                if not isinstance(error, PermissionDenied) or isinstance(error, SetupError):
                    continue
            await self._plan_next(due)

    async def _plan_next(self, due: DueReport) -> None:
        """Let the next one be due a week later, unless the person wants none any more."""
        place, now = due.place, self._context.clock.now()
        if await self._store.reports.is_scheduled(place, due.person):
            await self._store.reports.schedule(place, due.person, max(due.due_at + WEEK, now))

    async def _send(self, due: DueReport) -> None:
        place, now = due.place, self._context.clock.now()
        key = f"report\0{place.platform}\0{place.workspace}\0{due.person}\0{due.due_at.isoformat()}"
        id_ = REPORT_PREFIX + sha256(key.encode()).hexdigest()[:20]
        with use_language(await self._context.find_person_language(place, due.person)):
            begun = await self._answers.find_or_open(id_, place, due.person, gettext("Weekly report"))
            if begun.state == "started":
                is_new = await self._store.answers.begin(begun)
                report = await write_report(PersonAtPlace(self._services, place, due.person, now))
                reply = self._answers.open_reply(begun, is_new=is_new)
                result = AnswerResult(report.text, (), report.keys, rooms=report.rooms)
                await self._answers.finish(begun, reply, result, AnswerFooter(begun.id))
