"""Tables of channels, their settings and back-fill cursors."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.platform.models import Location
from bot.store.models import ChannelSettings
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.store.database import Database

SETTINGS_COLUMNS = ", ".join(field.name for field in fields(ChannelSettings))
SETTINGS_UPDATES = ", ".join(f"{field.name} = excluded.{field.name}" for field in fields(ChannelSettings))
FAR_FUTURE = datetime(9999, 1, 1, tzinfo=UTC)


class ChannelSettingsTable:
    """Settings of channels."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, room: str) -> ChannelSettings | None:
        """The settings of a channel; None if none were changed."""
        row = await self._database.fetch_one(f"SELECT {SETTINGS_COLUMNS} FROM channel_settings WHERE room = ?", (room,))
        if row is None:
            return None
        mode, style, language, reply_to, ingest, links, *others = row
        return ChannelSettings(mode, style, language, reply_to, bool(ingest), bool(links), *others)

    async def save(self, room: str, settings: ChannelSettings) -> None:
        """Store the settings of a channel."""
        await self._database.execute(
            f"INSERT INTO channel_settings (room, {SETTINGS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT (room) DO UPDATE SET {SETTINGS_UPDATES}",
            (room, *astuple(settings)),
        )


class Channels:
    """Channels that the bot is a member of."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_joined(
        self, platform: str, workspace: str | None = None, synced_before: datetime | None = None
    ) -> list[Location]:
        """The channels of a workspace, or of a whole platform, by name.

        With a time, only those that are not known to have matched their platform then or later.
        """
        rows = await self._database.fetch_all(
            "SELECT platform, workspace, channel FROM channel WHERE platform = ? AND workspace = COALESCE(?, workspace)"
            " AND synced_until < COALESCE(?, synced_until + 1) ORDER BY name, room",
            (platform, workspace, to_micros(synced_before)),
        )
        return [Location(*row) for row in rows]

    async def list_platforms(self) -> list[str]:
        """The platforms of the channels, by name."""
        rows = await self._database.fetch_all("SELECT DISTINCT platform FROM channel ORDER BY platform")
        return [row[0] for row in rows]

    async def find_rooms(
        self, platform: str, workspace: str, *, names: Collection[str], ids: Collection[str]
    ) -> list[str]:
        """The rooms of channels with these names, in lower case, or ids; an empty workspace stands for all."""
        rows = await self._database.fetch_all(
            "SELECT room FROM channel WHERE platform = ?1 AND (?2 = '' OR workspace = ?2)"
            " AND (LOWER(name) IN (SELECT value FROM @list(?3)) OR channel IN (SELECT value FROM @list(?4)))",
            (platform, workspace, text_list(names), text_list(ids)),
        )
        return [row[0] for row in rows]

    async def list_names(self, platform: str, workspace: str) -> list[tuple[str, str]]:
        """The rooms and names of the channels of a workspace; an empty one stands for all."""
        rows = await self._database.fetch_all(
            "SELECT room, name FROM channel WHERE platform = ?1 AND (?2 = '' OR workspace = ?2) ORDER BY name, room",
            (platform, workspace),
        )
        return [(room, name) for room, name in rows]

    async def get_name(self, room: str) -> str | None:
        """The last known name of the channel; None if the bot is not in it."""
        row = await self._database.fetch_one("SELECT name FROM channel WHERE room = ?", (room,))
        return row[0] if row else None

    async def get_horizon(self, room: str) -> datetime | None:
        """The earliest time from which the channel was ever to be read; None if the bot is not in it."""
        row = await self._database.fetch_one("SELECT horizon FROM channel WHERE room = ?", (room,))
        return from_micros(row[0]) if row else None

    async def upsert(self, place: Location, name: str, horizon: datetime | None = None) -> None:
        """Record that the bot is in a channel; with a horizon, messages since then are to be read."""
        await self._database.execute(
            "INSERT INTO channel (room, platform, workspace, channel, name, horizon, synced_until)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)"
            " ON CONFLICT (room) DO UPDATE SET name = excluded.name,"
            " horizon = @least(channel.horizon, excluded.horizon)",
            (place.room, place.platform, place.workspace, place.channel, name, to_micros(horizon or FAR_FUTURE)),
        )

    async def upsert_imported(self, place: Location, name: str, until: datetime) -> None:
        """Record that messages until a time were imported, whether the bot is in the channel or not."""
        await self.upsert(place, name)
        await self._database.execute(
            "UPDATE channel SET imported = true,"
            " imported_until = CASE WHEN imported_until > ?1 THEN imported_until ELSE ?1 END WHERE room = ?2",
            (to_micros(until), place.room),
        )

    async def get_imported_until(self, room: str) -> datetime | None:
        """The time of the newest import of the channel; None if there was none."""
        row = await self._database.fetch_one("SELECT imported_until FROM channel WHERE room = ?", (room,))
        return from_micros(row[0]) if row else None

    async def is_imported(self, room: str) -> bool:
        """Whether messages of the channel were imported."""
        row = await self._database.fetch_one("SELECT imported FROM channel WHERE room = ?", (room,))
        return bool(row and row[0])

    async def get_synced_until(self, room: str) -> datetime | None:
        """The time until which the channel is known to match its platform; None if the bot is not in it."""
        row = await self._database.fetch_one("SELECT synced_until FROM channel WHERE room = ?", (room,))
        return from_micros(row[0]) if row else None

    async def record_synced_until(self, room: str, until: datetime) -> None:
        """Record that the channel matched its platform at a time, except for the past that a back-fill reads."""
        await self._database.execute("UPDATE channel SET synced_until = ? WHERE room = ?", (to_micros(until), room))

    async def is_announced(self, room: str) -> bool:
        """Whether the bot introduced itself in the channel."""
        row = await self._database.fetch_one("SELECT announced FROM channel WHERE room = ?", (room,))
        return bool(row and row[0])

    async def list_announced(self, platform: str) -> set[str]:
        """The rooms of a platform's channels in which the bot introduced itself."""
        rows = await self._database.fetch_all("SELECT room FROM channel WHERE platform = ? AND announced", (platform,))
        return {row[0] for row in rows}

    async def record_announced(self, room: str) -> None:
        """Record that the bot introduced itself in the channel."""
        await self._database.execute("UPDATE channel SET announced = true WHERE room = ?", (room,))

    async def delete(self, place: Location) -> None:
        """Delete a channel that the bot left."""
        await self._database.execute("DELETE FROM channel WHERE room = ?", (place.room,))


@dataclass(frozen=True, slots=True)
class BackfillCursor:
    """A back-fill that is not finished: messages since `since`, older than message `before` (empty: all)."""

    location: Location
    since: datetime
    before: str
    attempts: int


class BackfillCursors:
    """Unfinished back-fills."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, room: str, since: datetime) -> None:
        """Start or restart a back-fill since a time; stored messages are not changed."""
        await self._database.execute_all(
            ("DELETE FROM backfill_cursor WHERE room = ?", (room,)),
            ("INSERT INTO backfill_cursor (room, since) VALUES (?, ?)", (room, to_micros(since))),
        )

    async def list_due(self, now: float, platform: str, workspace: str) -> list[BackfillCursor]:
        """The back-fills of a workspace that are due (seconds since 1970), the one that is due longest first."""
        condition = "c.due_at <= ? AND r.platform = ? AND r.workspace = ? ORDER BY c.due_at, c.room"
        return await self._select(condition, now, platform, workspace)

    async def list_due_workspaces(self, now: float) -> set[tuple[str, str]]:
        """The platforms and workspaces with back-fills that are due (seconds since 1970)."""
        rows = await self._database.fetch_all(
            "SELECT DISTINCT r.platform, r.workspace FROM backfill_cursor c JOIN channel r ON r.room = c.room"
            " WHERE c.due_at <= ?",
            (now,),
        )
        return {(platform, workspace) for platform, workspace in rows}

    async def get(self, room: str) -> BackfillCursor | None:
        """The back-fill of a channel; None if none is running."""
        return next(iter(await self._select("c.room = ?", room)), None)

    async def _select(self, condition: str, *parameters: object) -> list[BackfillCursor]:
        rows = await self._database.fetch_all(
            "SELECT r.platform, r.workspace, r.channel, c.since, c.before, c.attempts FROM backfill_cursor c"
            f" JOIN channel r ON r.room = c.room WHERE {condition}",
            parameters,
        )
        return [
            BackfillCursor(Location(*place), from_micros(since) or EPOCH, before, tries)
            for *place, since, before, tries in rows
        ]

    async def get_position(self, room: str) -> str | None:
        """The oldest message that the channel's back-fill ingested; None if none is running."""
        row = await self._database.fetch_one("SELECT before FROM backfill_cursor WHERE room = ?", (room,))
        return row[0] if row else None

    async def advance(self, cursor: BackfillCursor, before: str) -> bool:
        """Record that everything from a message on is ingested; False if the back-fill was replaced since."""
        rows = await self._database.execute(
            "UPDATE backfill_cursor SET before = COALESCE(NULLIF(?, ''), before), attempts = 0"
            " WHERE room = ? AND since = ? RETURNING room",
            (before, cursor.location.room, to_micros(cursor.since)),
        )
        return bool(rows)

    async def delay(self, room: str, due: float) -> None:
        """Delay a back-fill until a time (seconds since 1970)."""
        await self._database.execute(
            "UPDATE backfill_cursor SET due_at = ?, attempts = attempts + 1 WHERE room = ?", (due, room)
        )

    async def finish(self, cursor: BackfillCursor) -> None:
        """Delete a finished back-fill."""
        await self._database.execute(
            "DELETE FROM backfill_cursor WHERE room = ? AND since = ?", (cursor.location.room, to_micros(cursor.since))
        )

    async def cancel(self, room: str) -> None:
        """Delete the back-fill of a channel."""
        await self._database.execute("DELETE FROM backfill_cursor WHERE room = ?", (room,))
