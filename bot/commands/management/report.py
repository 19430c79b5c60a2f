"""The report of a week for a manager: counts of what they can read, questions without an answer; sent when due."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.contradictions.finding import find_in_scope
from bot.answers.watches.unasked import UnaskedAnswers
from bot.capabilities.results import Completed, ExportLine
from bot.commands.context import PersonAtPlace
from bot.commands.review.unanswered import find_unanswered
from bot.errors import ChannelGone, PermissionDenied, PlatformError, SetupError, WorkspaceGone
from bot.i18n import gettext, use_language
from bot.ingest.conversations import author_key
from bot.permissions.managers import is_workspace_manager
from bot.platform.models import AnswerFooter
from bot.store import AnswerResult
from bot.store.models import REPORT_PREFIX, message_key
from bot.text.format import format_day, pluralize
from bot.text.markdown import escape_markdown, markdown_link
from bot.texts.omissions import describe_families

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bot.capabilities.management.requests import GetReport, ScheduleReport
    from bot.commands.context import BotServices
    from bot.commands.management.manager import Manager
    from bot.commands.review.unanswered import Group
    from bot.store import UnansweredQuestion
    from bot.store.schedules.digests import DueReport


WEEK = timedelta(days=7)
MAX_GROUPS = 10
log = structlog.get_logger(__name__)

POLL_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Report:
    """The report in Markdown, the keys of the questions that it quotes, and the rooms that it counts."""

    text: str
    keys: frozenset[str]
    rooms: frozenset[str]


async def get_report(manager: Manager, _request: GetReport) -> ExportLine:
    """Write the report of the last seven days."""
    return ExportLine((await write_report(manager.stand())).text)


async def schedule_report(manager: Manager, request: ScheduleReport) -> Completed:
    """Send the report weekly from next week on, or no more."""
    call, subject = manager.stand(), manager.subject
    if request.schedule == "off":
        await call.store.reports.delete(subject.platform, subject.workspace, subject.person)
        return Completed(gettext("I won't send you the weekly report anymore."))
    await call.store.reports.schedule(call.location, call.person, call.now + WEEK)
    return Completed(gettext("I'll send you a report every week."))


async def write_report(call: PersonAtPlace) -> Report:
    """Count what was asked, asked in vain, asked of experts, what disagrees and was not read, where they may read."""
    since = call.now - WEEK
    rooms = await _list_rooms(call, since)
    groups, _ = await find_unanswered(call, MAX_GROUPS, outside_of_channels=False, since=since)
    head = gettext("The week since {day}, of what you can read").format(day=format_day(since))
    lines = [f"**{head}**", *await _count(call, rooms, since)]
    if groups:
        lines.append(f"**{gettext('Questions without a good answer')}**")
        lines += [_format_group(call, group) for group in groups]
    asked = [question for group in groups for question in group.questions]
    return Report("\n".join(lines), _list_keys(asked), frozenset(rooms))


def _list_keys(asked: Iterable[UnansweredQuestion]) -> frozenset[str]:
    """The keys of questions, and of who asked them: what is asked of the bot is often no stored message."""
    keys = set[str]()
    for question in asked:
        keys.add(author_key(question.location.platform, question.location.workspace, question.asker))
        if question.message_id:
            keys.add(message_key(question.location.room, question.message_id))
    return frozenset(keys)


async def _list_rooms(call: PersonAtPlace, since: datetime) -> dict[str, int]:
    """The channels in which somebody asked something since a time and that the manager can read, with the number."""
    place = call.location
    counted = await call.store.unanswered.count_asked(place.platform, place.workspace, since, texts.DIGEST_QUESTION)
    known = {room: count for room, count in counted.items() if await call.store.channels.get_name(room)}
    return {room: count for room, count in known.items() if await call.can_read(room)}


async def _count(call: PersonAtPlace, rooms: dict[str, int], since: datetime) -> list[str]:
    asked, experts = sum(rooms.values()), await call.store.experts.count_requests(rooms, since.timestamp())
    scope = await call.resolve_scope()
    lines = [
        pluralize(asked, "- {count} question was asked", "- {count} questions were asked"),
        pluralize(experts, "- an expert was asked {count} time", "- experts were asked {count} times"),
    ]
    if call.settings.contradictions == "on":
        found = await find_in_scope(call.engine, scope, call.now)
        left = len(found.keys() - await call.store.contradictions.list_decided(found))
        command = call.format_example("contradictions")
        said = pluralize(left, "- {count} pair of statements disagrees", "- {count} pairs of statements disagree")
        lines.append(f"{said}{f' ({command})' if left else ''}")
    unread = await call.store.unread_files.count_families(scope, since=since)
    number = sum(unread.values())
    shown = pluralize(number, "- {count} file was not read", "- {count} files were not read")
    return [*lines, f"{shown}{f': {describe_families(unread)}' if number else ''}"]


def _format_group(call: PersonAtPlace, group: Group) -> str:
    newest = group.questions[0]
    platform = call.services.context.platform_for(newest.location)
    link = platform.message_link(newest.location, newest.message_id) if newest.message_id else ""
    title = markdown_link(group.texts[0], link) if link else escape_markdown(group.texts[0])
    times = pluralize(len(group.questions), "{count} time", "{count} times")
    return f"- {title} – {times}"


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
