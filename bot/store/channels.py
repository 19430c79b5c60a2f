"""Channels: those that the bot is in, what was set for them, and where their back-fill stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.platform.models import Place
from bot.store.models import ChannelSettings
from engine.storage.sqlite.timestamps import EPOCH, shown, stored

if TYPE_CHECKING:
    from bot.store.database import Database

FAR = datetime(9999, 1, 1, tzinfo=UTC)

# Where the bot sees channels that nobody invited it to: they are read only once somebody switched them on.
SWITCHED = ("discord:",)


class Channels:
    """What was set for channels."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, room: str) -> ChannelSettings:
        """The settings of a channel. Without any, it is read where being there means having been invited."""
        row = await self._database.row(
            "SELECT mode, style, language, answers, ingest FROM channel WHERE room = ?", (room,)
        )
        if row is None:
            return ChannelSettings(ingest=not room.startswith(SWITCHED))
        mode, style, language, answers, ingest = row
        return ChannelSettings(mode, style, language, answers, bool(ingest))

    async def put(self, room: str, settings: ChannelSettings) -> None:
        """Keep the settings of a channel."""
        await self._database.write(
            "INSERT OR REPLACE INTO channel VALUES (?, ?, ?, ?, ?, ?)",
            (room, settings.mode, settings.style, settings.language, settings.answers, settings.ingest),
        )


class Rooms:
    """The channels that the bot is in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, platform: str, workspace: str | None = None) -> list[Place]:
        """The channels of a workspace, or of a whole platform, by name."""
        rows = await self._database.rows(
            "SELECT platform, workspace, channel FROM room WHERE platform = ?1 AND (?2 IS NULL OR workspace = ?2)"
            " ORDER BY name, room",
            (platform, workspace),
        )
        return [Place(*row) for row in rows]

    async def name(self, room: str) -> str | None:
        """The channel's name as it was last told; None if the bot is not there."""
        row = await self._database.row("SELECT name FROM room WHERE room = ?", (room,))
        return row[0] if row else None

    async def horizon(self, room: str) -> datetime | None:
        """How far back the channel was ever asked for; None if the bot is not there."""
        row = await self._database.row("SELECT horizon FROM room WHERE room = ?", (room,))
        return shown(row[0]) if row else None

    async def note(self, place: Place, name: str, horizon: datetime | None = None) -> None:
        """The bot is in this channel; with a horizon, messages since then are of interest."""
        await self._database.write(
            "INSERT INTO room (room, platform, workspace, channel, name, horizon, compared)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)"
            " ON CONFLICT (room) DO UPDATE SET name = excluded.name, horizon = MIN(horizon, excluded.horizon)",
            (place.room, place.platform, place.workspace, place.channel, name, stored(horizon or FAR)),
        )

    async def compared(self, room: str) -> datetime | None:
        """Until when all that was said, edited and deleted in the channel is known; None if the bot is not there."""
        row = await self._database.row("SELECT compared FROM room WHERE room = ?", (room,))
        return shown(row[0]) if row else None

    async def note_compared(self, room: str, until: datetime) -> None:
        """The channel was compared with its platform as a whole, or its past is read by a back-fill."""
        await self._database.write("UPDATE room SET compared = ? WHERE room = ?", (stored(until), room))

    async def announced(self, room: str) -> bool:
        """Whether the channel was told what the bot does there."""
        row = await self._database.row("SELECT announced FROM room WHERE room = ?", (room,))
        return bool(row and row[0])

    async def all_announced(self, platform: str) -> set[str]:
        """The rooms of a platform's channels that were told so."""
        rows = await self._database.rows("SELECT room FROM room WHERE platform = ? AND announced", (platform,))
        return {row[0] for row in rows}

    async def note_announced(self, room: str) -> None:
        """The channel was told."""
        await self._database.write("UPDATE room SET announced = 1 WHERE room = ?", (room,))

    async def drop(self, place: Place) -> None:
        """The bot is not in this channel any more."""
        await self._database.write("DELETE FROM room WHERE room = ?", (place.room,))


@dataclass(frozen=True, slots=True)
class Cursor:
    """A back-fill that is not finished: messages since `since`, older than message `before` (empty: all)."""

    place: Place
    since: datetime
    before: str
    tries: int


class Cursors:
    """Back-fills that are not finished."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, room: str, since: datetime) -> None:
        """Start over, to take in what was said since then; what is known already is left alone."""
        await self._database.write("INSERT OR REPLACE INTO cursor (room, since) VALUES (?, ?)", (room, stored(since)))

    async def due(self, now: float) -> Cursor | None:
        """One that may go on now (seconds since 1970)."""
        row = await self._database.row(
            "SELECT r.platform, r.workspace, r.channel, c.since, c.before, c.tries FROM cursor c"
            " JOIN room r ON r.room = c.room WHERE c.due <= ? ORDER BY c.due, c.room LIMIT 1",
            (now,),
        )
        if row is None:
            return None
        platform, workspace, channel, since, before, tries = row
        return Cursor(Place(platform, workspace, channel), shown(since) or EPOCH, before, tries)

    async def of(self, room: str) -> str | None:
        """The oldest message that the channel's back-fill took in; None if none is under way."""
        row = await self._database.row("SELECT before FROM cursor WHERE room = ?", (room,))
        return row[0] if row else None

    async def advance(self, cursor: Cursor, before: str) -> bool:
        """Everything from this message on is taken in, if it is any; False if the back-fill is another one by now."""
        rows = await self._database.write(
            "UPDATE cursor SET before = COALESCE(NULLIF(?, ''), before), tries = 0 WHERE room = ? AND since = ?"
            " RETURNING room",
            (before, cursor.place.room, stored(cursor.since)),
        )
        return bool(rows)

    async def delay(self, room: str, due: float) -> None:
        """Try again at that time (seconds since 1970)."""
        await self._database.write("UPDATE cursor SET due = ?, tries = tries + 1 WHERE room = ?", (due, room))

    async def finish(self, cursor: Cursor) -> None:
        """All is taken in."""
        await self._database.write(
            "DELETE FROM cursor WHERE room = ? AND since = ?", (cursor.place.room, stored(cursor.since))
        )

    async def end(self, room: str) -> None:
        """It is not wanted any more."""
        await self._database.write("DELETE FROM cursor WHERE room = ?", (room,))
