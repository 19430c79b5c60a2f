"""The bot's own tables: in one SQLite file next to the engine's ledger, or in a PostgreSQL database.

    async with BotStore.open(settings.data_path / "bot.db", clock) as store: ...

It stores no texts of messages: the engine has them. The payload of an event is deleted once it is handled, and the
text of an answer once a source of it is removed. Each part of the store is one group of tables:

    event_queue            events that are not handled yet, and the idempotency keys of those that are
    messages               author and time of each message, and the document that contains it
    unconfirmed_deletions  messages that a history lacks
    files                  uploaded files and their documents
    unread_files           files that were shared and not read, and why
    conversations          groups of messages and their documents
    answers                questions, answers and what they used
    answer_stops           who stopped an answer while it was written
    answer_repeats         questions that are answered again
    answer_renewals        answers that are written anew because a source changed
    superseded_answers     posted answers that a newer message supersedes
    pending_redactions     documents whose change is not applied to answers yet
    answer_corrections     posted answers that lost a source
    feedback               thumbs up and down
    digests                scheduled digests
    watches                standing requests, and what they found
    contradictions         statements that disagree, what was decided about them, and who was told
    reports                managers who want a weekly report
    verified_answers       answers that a person verified
    unanswered             questions that found nothing, or whose answer was voted down
    experts                people to ask about a topic, and what they were asked
    shared_answers         links to answers that their askers share
    channel_settings       what managers set for channels
    opt_outs               people whose messages are not stored
    channels               the channels that the bot is in, or whose past was imported
    backfill_cursors       how far each back-fill of a channel got
    usage                  tokens and cost per workspace and day
    hints                  hints that a workspace has seen
    installations          the app's installations in workspaces, encrypted
    installation_states    states by which the app was installed in a browser
    access_tokens          tokens of programs that ask from outside of the chats
    adapter_state          values that adapters keep
    retention              what retention did last, and what it waits for
    imported_spaces        where imports put channels that no platform can be asked about
    audit                  who asked and changed what, as a chain of hashes
    receipts               signed receipts of what was erased
    personal               what the tables hold about one person
    recent_questions       questions of the last minute
    shared_visibility      changed audiences, where several processes share the database
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.store.access.audit_log import AuditLog
from bot.store.access.installations import Installations, InstallationStates
from bot.store.access.tokens import AccessTokens
from bot.store.answers import Answers
from bot.store.channels import BackfillCursors, Channels, ChannelSettingsTable
from bot.store.control.renewals import AnswerRenewals
from bot.store.control.repeats import AnswerRepeats, AnswerStops
from bot.store.control.superseded import SupersededAnswers
from bot.store.documents import Conversations, Files, UnreadFiles
from bot.store.erasure.affected import AffectedAnswers
from bot.store.erasure.personal_records import PersonalRecords
from bot.store.erasure.receipts import ErasureReceipts
from bot.store.event_queue import EventQueueTable
from bot.store.messages import Messages, UnconfirmedDeletions
from bot.store.models import (
    FILES_ONLY,
    MESSAGES_ONLY,
    PERMISSIONS,
    AccessToken,
    AnswerResult,
    AnswerSource,
    AnswerState,
    ChannelSettings,
    ConversationRecord,
    FileRecord,
    MessageRecord,
    Permission,
    StoredAnswer,
    Subject,
    UnreadFile,
)
from bot.store.people import DailyUsage, Feedback, OneTimeHints, OptOuts, UsageRow
from bot.store.redactions import AnswerCorrection, AnswerCorrections, PendingRedactions
from bot.store.review.correction_changes import CorrectionChanges, RecordedChange
from bot.store.review.experts import Expert, Experts
from bot.store.review.shared_answers import SharedAnswers
from bot.store.review.unanswered import UnansweredQuestion, UnansweredQuestions
from bot.store.review.verified_answers import VerifiedAnswer, VerifiedAnswers
from bot.store.schedules.contradictions import Contradictions
from bot.store.schedules.digests import Digests, ManagerReports
from bot.store.schedules.retention import RetentionRecords
from bot.store.schedules.sources import Sources
from bot.store.schedules.watches import Watches
from bot.store.shared.adapter_state import AdapterState, ImportedSpaces
from bot.store.shared.questions import RecentQuestions
from bot.store.shared.visibility import SharedVisibility
from bot.store.sqlite_file import SqliteStore, copy_database
from engine.storage.sqlite.database import WRITABLE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime
    from pathlib import Path

    from bot.store.database import Database
    from engine import Clock
    from engine.storage.sqlite.database import FileAccess

__all__ = [
    "FILES_ONLY",
    "MESSAGES_ONLY",
    "PERMISSIONS",
    "AccessToken",
    "AnswerCorrection",
    "AnswerResult",
    "AnswerSource",
    "AnswerState",
    "BotStore",
    "ChannelSettings",
    "ConversationRecord",
    "Expert",
    "FileRecord",
    "MessageRecord",
    "Permission",
    "RecordedChange",
    "StoredAnswer",
    "Subject",
    "UnansweredQuestion",
    "UnreadFile",
    "UsageRow",
    "VerifiedAnswer",
    "copy_store",
    "migrate_store",
]


def _open_database(
    place: Path | str, clock: Clock, process: int | None, access: FileAccess
) -> AbstractAsyncContextManager[Database]:
    if isinstance(place, str):
        from bot.store.postgres import PostgresStore  # noqa: PLC0415 - it needs the extra `postgres`

        return PostgresStore.open(place, clock, process)
    return SqliteStore.open(place, clock, access)


async def copy_store(place: Path | str, target: Path, clock: Clock, access: FileAccess = WRITABLE) -> str:
    """Copy all tables as of one moment into a file; returns the checksum of their rows, "" if there is no file.

    `access`: how a file uses its disk. Raises OSError and StoreError.
    """
    if isinstance(place, str):
        from bot.store.postgres import PostgresStore  # noqa: PLC0415 - it needs the extra `postgres`

        async with PostgresStore.open(place, clock) as store:
            return await store.copy_to(target)
    return await asyncio.to_thread(copy_database, place, target, access)


async def migrate_store(url: str) -> None:
    """Update the tables in a database. Raises StoreError.

    It is DatabaseInUse while a process is alone on the database, or uses tables that would change under it.
    """
    from bot.store.postgres import migrate_tables  # noqa: PLC0415 - it needs the extra `postgres`

    await asyncio.to_thread(migrate_tables, url)


class BotStore:
    """All tables of the bot; every method is a transaction of its own, durable when it returns."""

    def __init__(self, database: Database, clock: Clock, process: int | None = None) -> None:
        self.event_queue = EventQueueTable(database, process)
        self.shared_visibility = None if process is None else SharedVisibility(database, process)
        self.recent_questions = RecentQuestions(database)
        self.messages = Messages(database, clock)
        self.unconfirmed_deletions = UnconfirmedDeletions(database)
        self.files = Files(database)
        self.unread_files = UnreadFiles(database)
        self.conversations = Conversations(database)
        self.answer_corrections = AnswerCorrections(database)
        self.pending_redactions = PendingRedactions(database, process)
        self.answers = Answers(database, self.answer_corrections, self.pending_redactions, clock)
        self.answer_stops = AnswerStops(database)
        self.answer_repeats = AnswerRepeats(database)
        self.answer_renewals = AnswerRenewals(database, clock)
        self.superseded_answers = SupersededAnswers(database, self.answer_corrections, clock)
        self.feedback = Feedback(database)
        self.digests = Digests(database)
        self.watches = Watches(database)
        self.contradictions = Contradictions(database)
        self.reports = ManagerReports(database)
        self.verified_answers = VerifiedAnswers(database)
        self.unanswered = UnansweredQuestions(database)
        self.experts = Experts(database)
        self.audit = AuditLog(database, clock)
        self.affected_answers = AffectedAnswers(database)
        self.receipts = ErasureReceipts(database, clock, process)
        self.shared_answers = SharedAnswers(database)
        self.personal = PersonalRecords(database)
        self.correction_changes = CorrectionChanges(database)
        self.channel_settings = ChannelSettingsTable(database)
        self.opt_outs = OptOuts(database)
        self.channels = Channels(database)
        self.backfill_cursors = BackfillCursors(database)
        self.usage = DailyUsage(database)
        self.hints = OneTimeHints(database)
        self.installations = Installations(database)
        self.installation_states = InstallationStates(database)
        self.access_tokens = AccessTokens(database)
        self.adapter_state = AdapterState(database)
        self.retention = RetentionRecords(database, self.adapter_state)
        self.imported_spaces = ImportedSpaces(database, self.adapter_state)
        self.sources = Sources(database)
        self._database = database

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        place: Path | str,
        clock: Clock,
        process: int | None = None,
        access: FileAccess = WRITABLE,
    ) -> AsyncIterator[BotStore]:
        """Open or create the tables: in a file, or in the database with this address, as this `process`.

        `access`: how a file uses its disk.

        Raises StoreError, NewerSchema, DiskError.
        """
        async with _open_database(place, clock, process, access) as database:
            yield cls(database, clock, process if isinstance(place, str) else None)

    async def read_shared_time(self) -> datetime | None:
        """The time by the clock of the database, if several processes share it; None in a file."""
        return None if self.shared_visibility is None else await self.shared_visibility.read_time()

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Remove every row of a workspace."""
        await self._database.delete_workspace(platform, workspace)

    async def make_delayed_due(self, now: float) -> None:
        """Let all delayed work be due (seconds since 1970)."""
        await self.event_queue.make_due(now)
        await self._database.execute_all(
            *(
                (f"UPDATE {table} SET due_at = ?1 WHERE due_at > ?1", (now,))
                for table in ("backfill_cursor", "answer_correction", "source")
            )
        )

    @property
    def database_wait_seconds(self) -> float:
        """Seconds that reads have waited for a connection since the store was opened."""
        return self._database.waited_seconds

    def abandon(self) -> None:
        """Make all calls fail from now on: other processes may have taken over the work of this one."""
        self._database.abandon()

    async def compact(self) -> None:
        """Free the bytes of deleted rows."""
        await self._database.compact()
