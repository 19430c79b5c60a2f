"""Delete what is older than the retention period, unless that looks like a mistake: then a person must confirm it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import structlog

from bot import texts
from bot.i18n import gettext
from bot.ingest.erasure.service import Erasures
from bot.ingest.sync.manager_notices import ManagerNotices
from bot.store.access.audit_log import SYSTEM, AuditEvent, BrokenAuditLog
from bot.store.schedules.retention import HeldDeletion, RetentionRecord
from bot.text.format import pluralize
from engine.errors import NotFound
from engine.parsers.chat_export import CONVERSATION_GAP

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.documents import ConversationDocuments
    from bot.store import BotStore

log = structlog.get_logger(__name__)

TOMBSTONE_TTL = timedelta(days=400)  # a platform may report deletions late
BATCH = 500  # messages removed in one transaction
MAX_UNCONFIRMED = 100  # documents that one run deletes without being asked
MAX_SHARE = 0.1  # of all documents: one run deletes so many without being asked, if that is more
MAX_LEAP = timedelta(days=30)  # of the clock since the newest event and the last run
AUDIT_KEPT = (
    "The audit log is broken: {problem}. Nothing of it is deleted by age. Compare it with a backup; `threadlore verify`"
    " shows its state."
)
TELL_INTERVAL_SECONDS = 600.0  # between two attempts to tell the managers


class Retention:
    """Closes idle conversations, and deletes data beyond the retention period."""

    def __init__(self, context: BotContext, documents: ConversationDocuments) -> None:
        self._context = context
        self._documents = documents
        self._notices = ManagerNotices(context)
        self._store = context.store
        self._erasures = Erasures(context)
        self._held: HeldDeletion | None = None
        self._told_at: float | None = None
        self._broken_log = ""  # what is wrong with the audit log, of which nothing is deleted then
        context.engine_context.engine.supervisor.add_problem_source(self._list_problems)

    async def close_idle(self, now: datetime) -> None:
        """Close the conversations without a message for 15 minutes."""
        for window in await self._store.conversations.list_idle_since(now - CONVERSATION_GAP):
            async with self._documents.lock(window.room):
                current = await self._store.conversations.get(window.document)
                if current and current.last <= now - CONVERSATION_GAP:
                    await self._documents.close_conversation(window.document)

    async def delete_expired(self, now: datetime) -> None:
        """Delete messages, files and answers beyond the retention period, and old tombstones.

        If the clock leapt, or the run would delete far more than usual, it waits for a confirmation. What was held
        because of the clock waits until it is confirmed, or until the clock was set back.
        """
        days, record = self._context.settings.retention_days, await self._store.retention.load()
        leapt = await self._has_leapt(record, now)
        is_doubted = leapt or _waits_for_clock(record, now)
        if not is_doubted:
            await self._store.messages.delete_tombstones(now - TOMBSTONE_TTL)
        if days:
            oldest = min(now - timedelta(days=days), record.confirmed or now)
            held = await self._find_doubt(record, now, oldest, is_clock_doubted=is_doubted)
            if held and not record.confirmed:
                await self._hold(record, held)
                return
            if record.confirmed or not is_doubted:
                await self._delete_before(oldest)
        if self._context.settings.audit_days and not is_doubted:
            oldest = now.replace(hour=0, minute=0, second=0, microsecond=0)  # once a day
            await self._delete_entries_before(oldest - timedelta(days=self._context.settings.audit_days))
        self._held = None
        if not leapt or (days and record.confirmed):
            vouched = not leapt or (record.held is not None and record.held.reason == "clock")
            await self._store.retention.save(RetentionRecord(days, now if vouched else record.last_run))

    async def continue_held(self, now: datetime) -> None:
        """Delete what a person has confirmed since; tell managers of workspaces where nobody could be told yet."""
        if self._held is None:
            return
        if (await self._store.retention.load()).confirmed:
            await self.delete_expired(now)
        elif self._told_at is None or self._context.clock.monotonic() - self._told_at >= TELL_INTERVAL_SECONDS:
            await self._tell_managers(self._held)

    async def _has_leapt(self, record: RetentionRecord, now: datetime) -> bool:
        """Whether the clock is far from the newest message, and from the last run by it.

        Many files have times of the same clock, so they count only if nothing else is known.
        """
        newest = await self._store.retention.find_newest_message(now)
        known = [time for time in (newest, record.last_run) if time and time <= now]
        if not known and (file := await self._store.retention.find_newest_file(now)):
            known = [file]
        return bool(known) and now - max(known) > MAX_LEAP

    async def _find_doubt(
        self, record: RetentionRecord, now: datetime, oldest: datetime, *, is_clock_doubted: bool
    ) -> HeldDeletion | None:
        """The deletion, if a person must look at it first; the first run with a new or shorter period may be large."""
        days = self._context.settings.retention_days
        documents, total = await self._store.retention.count(oldest)
        is_first = days < record.days or not record.days
        is_large = documents > max(MAX_UNCONFIRMED, MAX_SHARE * total)
        if not documents or not (is_clock_doubted or (is_large and not is_first)):
            return None
        reason: Literal["amount", "clock"] = "clock" if is_clock_doubted else "amount"
        before = record.held
        since = before.since if before and before.reason == reason and before.since <= now else now
        return HeldDeletion(reason, oldest, documents, total, since)

    async def _hold(self, record: RetentionRecord, held: HeldDeletion) -> None:
        if record.held is None:
            log.warning("retention.held", reason=held.reason, documents=held.documents, total=held.total)
        self._held = held
        if (latest := await self._store.retention.load()).confirmed:
            return  # while the documents were counted
        await self._store.retention.save(replace(latest, held=held))
        await self._tell_managers(held)

    def _list_problems(self) -> list[str]:
        held = [] if self._held is None else [describe_held(self._held)]
        return [*held, AUDIT_KEPT.format(problem=self._broken_log)] if self._broken_log else held

    async def _delete_entries_before(self, oldest: datetime) -> None:
        """Delete old entries of the audit log; if it is broken, say so, and keep it to be looked at."""
        try:
            await self._store.audit.delete_before(oldest)
            self._broken_log = ""
        except BrokenAuditLog as error:
            self._broken_log = str(error)
            log.error("audit.broken", problem=self._broken_log)  # noqa: TRY400 - no bug

    async def _delete_before(self, oldest: datetime) -> None:
        counted = dict.fromkeys(("messages", "files"), 0)
        erasure = await self._erasures.try_measure(self._erasures.planner.plan_expired(oldest))
        while messages := await self._store.messages.list_before(oldest, BATCH):
            messages.sort(key=lambda each: each.room)
            counted["messages"] += len(messages)
            for room, group in groupby(messages, key=lambda each: each.room):
                async with self._documents.lock(room):
                    await self._documents.remove_messages(list(group))
        for file in await self._store.files.list_before(oldest):
            async with self._documents.lock(file.room):
                await self._documents.forget_document(file.document)
            counted["files"] += 1
        await self._store.unread_files.delete_before(oldest)
        await self._store.answers.delete_before(oldest.timestamp())
        await self._store.verified_answers.delete_before(oldest.timestamp())
        if any(counted.values()):
            before = oldest.date().isoformat()
            entry = AuditEvent("retention", "done", SYSTEM, details={**counted, "before": before})
            await self._erasures.record("retention", {"before": before}, erasure, entry)

    async def _tell_managers(self, held: HeldDeletion) -> None:
        """Tell managers of each workspace that this process serves, once; later if none can be told now."""
        self._told_at = self._context.clock.monotonic()
        name = f"{texts.RETENTION_HINT} {held.since.isoformat()}"
        await self._notices.tell_all(name, lambda: gettext(texts.RETENTION_HELD))


def _waits_for_clock(record: RetentionRecord, now: datetime) -> bool:
    """Whether a deletion was held because of the clock, which was not set back since."""
    held = record.held
    return held is not None and held.reason == "clock" and now >= held.since


def describe_held(held: HeldDeletion) -> str:
    """A deletion that waits, for whoever runs the program."""
    why = "the clock is far from the newest event" if held.reason == "clock" else "that is unusually much"
    return (
        f"Retention waits for a confirmation: it would delete {pluralize(held.documents, 'document')} of"
        f" {held.total:,} (from before {held.oldest:%Y-%m-%d}), and {why}. If that is right, run"
        " `threadlore retention confirm`; if not, correct the clock or THREADLORE_RETENTION_DAYS."
    )


async def confirm_held(store: BotStore) -> HeldDeletion:
    """Allow the deletion that waits; the bot runs it within a minute. Raises NotFound if none waits."""
    record = await store.retention.load()
    if record.held is None:
        raise NotFound("No deletion waits for a confirmation.", hint="`threadlore status` shows whether one does.")
    await store.retention.save(replace(record, confirmed=record.held.oldest))
    return record.held
