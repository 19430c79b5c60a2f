"""Tables of sources of documents outside of the chat, and of what was read of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.store.database import fetch
from engine.storage.sql.fragments import from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.store.database import Database
    from bot.store.models import Subject
    from engine.storage.sql.connection import Connection

_COLUMNS = (
    "id, name, kind, address, options, space, room, added_by, every, due_at, cursor, problem, failures, synced_at"
)
_ITEM_COLUMNS = "item, stamp, validator, problem, forgotten"
PAUSED = 1e11  # in place of a time that is due: until somebody has the source read again
PREFIX = "source:"  # of the keys of documents
_NEXT = f"CASE WHEN due_at >= {PAUSED:.0f} THEN due_at ELSE ? END"  # one that is paused stays so
WITHHELD = "withheld"  # the first word of the stamp of a document that is not read


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A configured source. `space`, `room`: of its documents. `added_by`: a person, empty for the owner.

    `added_by` is empty for people who were forgotten, too. `every`: seconds between two synchronizations; `due_at`: of
    the next one, seconds since 1970. `problem`: why the last one did not do everything; `failures`: how many failed in
    a row. `synced_at`: the end of the last good one.
    """

    id: str
    name: str
    kind: str
    address: str
    options: tuple[tuple[str, str], ...]
    space: str
    room: str
    added_by: str = ""
    every: float = 900.0
    due_at: float = 0.0
    cursor: str = ""
    problem: str = ""
    failures: int = 0
    synced_at: datetime | None = None

    @property
    def is_paused(self) -> bool:
        """Whether it is read on demand alone."""
        return self.due_at >= PAUSED


@dataclass(frozen=True, slots=True)
class SourceItemRecord:
    """What is known of a document of a source. `problem`: why it was not read.

    `is_forgotten`: a person had all of it forgotten.
    """

    id: str
    stamp: str = ""
    validator: str = ""
    problem: str = ""
    is_forgotten: bool = False

    @property
    def is_withheld(self) -> bool:
        """Whether the source only named it, and does not have it read."""
        return self.stamp.startswith(f"{WITHHELD} ")


class Sources:
    """Reads and writes the tables of sources and their documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert(self, source: SourceRecord) -> None:
        """Store a new source."""
        values = (source.id, source.name, source.kind, source.address, json.dumps(dict(source.options)))
        await self._database.execute(
            f"INSERT INTO source ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, NULL)"
            " ON CONFLICT (id) DO NOTHING",
            (*values, source.space, source.room, source.added_by, source.every, source.due_at),
        )

    async def get(self, id_: str) -> SourceRecord | None:
        """A source, or None."""
        return next(iter(await self._select("NOT removed AND id = ?", id_)), None)

    async def list_all(self) -> list[SourceRecord]:
        """All sources by name."""
        return await self._select("NOT removed")

    async def list_removed(self) -> list[SourceRecord]:
        """The sources whose removal has begun and not ended."""
        return await self._select("removed")

    async def list_due(self, now: float) -> list[SourceRecord]:
        """The sources to synchronize at a time (seconds since 1970)."""
        return await self._select("NOT removed AND due_at <= ?", now)

    async def list_in_room(self, room: str) -> list[SourceRecord]:
        """The sources whose documents belong to a room."""
        return await self._select("room = ?", room)

    async def list_in_workspace(self, platform: str, workspace: str) -> list[SourceRecord]:
        """The sources whose documents are in a space or a room of a workspace."""
        return await self._select(
            "substr(space, 1, length(?1)) = ?1 OR substr(room, 1, length(?1)) = ?1", f"{platform}:{workspace}:"
        )

    async def make_due(self, id_: str, time: float) -> None:
        """Have a source synchronized from a time on (seconds since 1970)."""
        await self._database.execute("UPDATE source SET due_at = ? WHERE id = ?", (time, id_))

    async def record_success(self, source: SourceRecord, cursor: str, time: datetime, problem: str = "") -> None:
        """Store where a synchronization ended; the next one is due after the time between two."""
        await self._database.execute(
            f"UPDATE source SET cursor = ?, synced_at = ?, due_at = {_NEXT}, problem = ?, failures = 0 WHERE id = ?",
            (cursor, to_micros(time), time.timestamp() + source.every, problem, source.id),
        )

    async def record_failure(self, id_: str, problem: str, due_at: float) -> None:
        """Store why a synchronization did not end, and when the next one is due (seconds since 1970)."""
        await self._database.execute(
            f"UPDATE source SET problem = ?, due_at = {_NEXT}, failures = failures + 1 WHERE id = ?",
            (problem, due_at, id_),
        )

    async def mark_removed(self, id_: str) -> None:
        """Record that a source is not wanted any more, before its documents are forgotten."""
        await self._database.execute("UPDATE source SET removed = true WHERE id = ?", (id_,))

    async def delete(self, id_: str) -> None:
        """Delete a source and what is known of its documents."""
        await self._database.execute_all(
            ("DELETE FROM source_item WHERE source = ?", (id_,)),
            ("DELETE FROM source_forgotten WHERE source = ?", (id_,)),
            ("DELETE FROM source WHERE id = ?", (id_,)),
        )

    async def list_items(self, id_: str) -> dict[str, SourceItemRecord]:
        """What is known of the documents of a source, by id."""
        rows = await self._database.fetch_all(
            f"SELECT {_ITEM_COLUMNS} FROM source_item WHERE source = ? ORDER BY item", (id_,)
        )
        return {row[0]: _to_item(*row) for row in rows}

    async def count_items(self) -> dict[str, tuple[int, int]]:
        """How many documents of each source are known, and how many of these were not read."""
        rows = await self._database.fetch_all(
            "SELECT source, COUNT(*), SUM(CASE WHEN problem <> '' THEN 1 ELSE 0 END) FROM source_item GROUP BY source"
        )
        return {source: (int(total), int(unread or 0)) for source, total, unread in rows}

    async def save_item(self, source: str, item: SourceItemRecord) -> None:
        """Store what is known of a document, unless its source was deleted; what a person had forgotten stays so."""
        await self._database.write(_save_item, source, item)

    async def forget_item(self, source: str, item: str) -> None:
        """Record that a person had all of a document forgotten."""
        await self._database.execute(
            "UPDATE source_item SET forgotten = true, problem = '' WHERE source = ? AND item = ?", (source, item)
        )

    async def add_forgotten(self, source: str, key: str) -> None:
        """Store the key of what a person had forgotten of a source."""
        await self._database.execute(
            "INSERT INTO source_forgotten (source, key) SELECT id, ? FROM source WHERE id = ?"
            " ON CONFLICT (source, key) DO NOTHING",
            (key, source),
        )

    async def is_forgotten(self, source: str, key: str) -> bool:
        """Whether a person had forgotten what has this key."""
        row = await self._database.fetch_one(
            "SELECT 1 FROM source_forgotten WHERE source = ? AND key = ?", (source, key)
        )
        return row is not None

    async def delete_items(self, source: str, items: Collection[str]) -> None:
        """Delete what is known of documents that are gone."""
        await self._database.execute(
            "DELETE FROM source_item WHERE source = ? AND item IN (SELECT value FROM @list(?))",
            (source, text_list(items)),
        )

    async def forget_person(self, person: Subject) -> None:
        """Forget who added the sources that a person added; they stay, because others read their documents."""
        await self._database.execute("UPDATE source SET added_by = '' WHERE added_by = ?", (str(person),))

    async def _select(self, condition: str, *parameters: Any) -> list[SourceRecord]:
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM source WHERE {condition} ORDER BY name, id", parameters
        )
        return [_to_source(*row) for row in rows]


def _to_source(*row: Any) -> SourceRecord:
    id_, name, kind, address, options, space, room, added_by, every, due_at, cursor, problem, failures, synced_at = row
    return SourceRecord(
        id_,
        name,
        kind,
        address,
        tuple(sorted(json.loads(options).items())),
        *(space, room, added_by),
        every,
        due_at,
        cursor,
        problem,
        failures,
        from_micros(synced_at),
    )


def _to_item(id_: str, stamp: str, validator: str, problem: str, forgotten: object) -> SourceItemRecord:
    return SourceItemRecord(id_, stamp, validator, problem, bool(forgotten))


def _save_item(db: Connection, source: str, item: SourceItemRecord) -> None:
    if fetch(db, "SELECT 1 FROM source WHERE id = ? AND NOT removed", (source,)):
        db.execute(
            f"INSERT INTO source_item (source, {_ITEM_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (source, item) DO UPDATE SET stamp = excluded.stamp, validator = excluded.validator,"
            " problem = excluded.problem",
            (source, item.id, item.stamp, item.validator, item.problem, item.is_forgotten),
        )
