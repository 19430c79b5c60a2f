"""The bot's own tables, in one SQLite file beside the engine's: what it was told, what it knows, what it answered.

    async with Store.open(settings.root / "bot.db") as store: ...

Texts of messages are not here: they live in the engine alone (an event's payload goes once it is handled, an
answer's words once something that it used is removed). Each part of the store is one group of tables:

    inbox     happenings that are not handled yet, and the keys of those that are
    messages  who wrote what when, and which document it is a passage of
    missing   messages that lists lack
    files     files that are documents
    windows   conversations that are documents
    answers   what was asked and answered, and what that used
    redactions  what is still to be redacted because the engine's documents changed
    corrections  posted answers of which a source was removed
    feedback  thumbs
    channels  what was set for channels
    people    who opted out
    rooms     the channels that the bot is in
    cursors   back-fills that are under way
    usage     tokens by workspace and day
    hints     what a workspace is told once
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.store.answers import Answers
from bot.store.channels import BackfillCursors, Channels, ChannelSettingsTable
from bot.store.conversations import Conversations
from bot.store.database import Database
from bot.store.event_queue import EventQueueTable
from bot.store.files import Files
from bot.store.messages import Messages
from bot.store.models import (
    AnswerResult,
    AnswerSource,
    AnswerState,
    ChannelSettings,
    ConversationRecord,
    FileRecord,
    MessageRecord,
    StoredAnswer,
)
from bot.store.people import DailyUsage, Feedback, OneTimeHints, OptOuts
from bot.store.redactions.corrections import AnswerCorrection, AnswerCorrections
from bot.store.redactions.pending import PendingRedactions
from bot.store.unconfirmed_deletions import UnconfirmedDeletions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

__all__ = [
    "AnswerCorrection",
    "AnswerResult",
    "AnswerSource",
    "AnswerState",
    "BotStore",
    "ChannelSettings",
    "ConversationRecord",
    "FileRecord",
    "MessageRecord",
    "StoredAnswer",
]


class BotStore:
    """All tables of the bot; every method is a transaction of its own, durable when it returns."""

    def __init__(self, database: Database) -> None:
        self.event_queue = EventQueueTable(database)
        self.messages = Messages(database)
        self.unconfirmed_deletions = UnconfirmedDeletions(database)
        self.files = Files(database)
        self.conversations = Conversations(database)
        self.answer_corrections = AnswerCorrections(database)
        self.pending_redactions = PendingRedactions(database)
        self.answers = Answers(database, self.answer_corrections, self.pending_redactions)
        self.feedback = Feedback(database)
        self.channel_settings = ChannelSettingsTable(database)
        self.opt_outs = OptOuts(database)
        self.channels = Channels(database)
        self.backfill_cursors = BackfillCursors(database)
        self.usage = DailyUsage(database)
        self.hints = OneTimeHints(database)
        self._database = database

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[BotStore]:
        """Open or create the file. Raises StoreError, NewerSchema, DiskError."""
        async with Database.open(path) as database:
            yield cls(database)

    async def delete_workspace(self, platform: str, workspace: str) -> None:
        """Remove every row of a workspace."""
        await self._database.delete_workspace(platform, workspace)

    async def compact(self) -> None:
        """Let removed bytes leave the log file too."""
        await self._database.compact()
