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
from bot.store.channels import Channels, Cursors, Rooms
from bot.store.conversations import Windows
from bot.store.database import Database
from bot.store.event_queue import InboxRows
from bot.store.files import Files
from bot.store.messages import Messages
from bot.store.models import ChannelSettings, Drawn, Filed, Known, Outcome, State, Stored, Window
from bot.store.people import Feedback, Hints, People, Usage
from bot.store.redactions.corrections import Correction, Corrections
from bot.store.redactions.pending import PendingRedactions
from bot.store.unconfirmed_deletions import Missing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

__all__ = ["ChannelSettings", "Correction", "Drawn", "Filed", "Known", "Outcome", "State", "Store", "Stored", "Window"]


class Store:
    """All tables of the bot; every method is a transaction of its own, durable when it returns."""

    def __init__(self, database: Database) -> None:
        self.inbox = InboxRows(database)
        self.messages = Messages(database)
        self.missing = Missing(database)
        self.files = Files(database)
        self.windows = Windows(database)
        self.corrections = Corrections(database)
        self.redactions = PendingRedactions(database)
        self.answers = Answers(database, self.corrections, self.redactions)
        self.feedback = Feedback(database)
        self.channels = Channels(database)
        self.people = People(database)
        self.rooms = Rooms(database)
        self.cursors = Cursors(database)
        self.usage = Usage(database)
        self.hints = Hints(database)
        self._database = database

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Store]:
        """Open or create the file. Raises StoreError, NewerSchema, DiskTrouble."""
        async with Database.open(path) as database:
            yield cls(database)

    async def purge(self, platform: str, workspace: str) -> None:
        """Remove every row of a workspace."""
        await self._database.purge(platform, workspace)

    async def compact(self) -> None:
        """Let removed bytes leave the log file too."""
        await self._database.compact()
