"""Table of posted answers that must be corrected because a source was removed."""

from __future__ import annotations

import asyncio
import json
import time as clock
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Location
from bot.store.database import fetch
from engine.storage.sqlite.timestamps import EPOCH, from_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.store.database import Database
    from engine.storage.sqlite.connection import Connection

_COLUMNS = (
    "answer, platform, workspace, channel, thread, asker, message, reply_ref, asked_at,"
    " requested_at, attempts, confirmed"
)

_ON_PLATFORMS = "platform IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class AnswerCorrection:
    """A pending correction of posted messages (`reply_ref`); times are seconds since 1970.

    `is_confirmed`: the answer is replaced; otherwise only if its readers may no longer read its sources.
    """

    answer_id: str
    location: Location
    asker: str
    message_id: str
    reply_ref: str
    asked_at: datetime
    requested_at: float
    attempts: int
    is_confirmed: bool


class AnswerCorrections:
    """Pending corrections. `updated` is set when one is requested; times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.updated = asyncio.Event()

    async def list_due(self, now: float, platforms: Collection[str], limit: int) -> list[AnswerCorrection]:
        """At most `limit` due corrections on these platforms, the certain ones first."""
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM answer_correction WHERE due_at <= ? AND {_ON_PLATFORMS}"
            f" ORDER BY confirmed DESC, due_at, answer LIMIT {limit}",
            (now, json.dumps(list(platforms))),
        )
        return [
            AnswerCorrection(
                id_, Location(*place), asker, message, mark, from_micros(asked) or EPOCH, since, tries, bool(checked)
            )
            for id_, *place, asker, message, mark, asked, since, tries, checked in rows
        ]

    async def get_next_due(self, platforms: Collection[str]) -> float | None:
        """The time at which the next correction on these platforms is due; None if there is none."""
        sql = f"SELECT MIN(due_at) FROM answer_correction WHERE {_ON_PLATFORMS}"
        [(due,)] = await self._database.fetch_all(sql, (json.dumps(list(platforms)),))
        return None if due is None else float(due)

    async def delay(self, answer: str, due: float) -> None:
        """Delay a correction until a time."""
        await self._database.execute(
            "UPDATE answer_correction SET attempts = attempts + 1, due_at = ? WHERE answer = ?", (due, answer)
        )

    async def finish(self, answer: str) -> None:
        """Delete a correction that is done or impossible."""
        await self._database.execute("DELETE FROM answer_correction WHERE answer = ?", (answer,))


async def request_corrections(db: Connection, answers: Collection[str], *, checked: bool = True) -> bool:
    """Request the correction of the posted ones among these answers; returns whether there are any."""
    made = await fetch(
        db,
        "INSERT INTO answer_correction (answer, platform, workspace, channel, thread, asker, message, reply_ref,"
        " asked_at, requested_at, due_at, confirmed)"
        " SELECT id, platform, workspace, channel, thread, asker, message, reply_ref, time, ?2, ?2, ?3 FROM answer"
        " WHERE id IN (SELECT value FROM json_each(?1)) AND reply_ref <> ''"
        " ON CONFLICT DO UPDATE SET confirmed = MAX(confirmed, excluded.confirmed),"
        " due_at = MIN(due_at, excluded.due_at)"
        " RETURNING answer",
        (json.dumps(sorted(answers)), clock.time(), checked),
    )
    return bool(made)
