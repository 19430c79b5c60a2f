"""Posted answers that are still to be corrected because one of their sources was removed."""

from __future__ import annotations

import asyncio
import json
import time as clock
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.platform.models import Place
from engine.storage.sqlite.timestamps import EPOCH, shown

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from bot.store.database import Database, Transaction

_COLUMNS = "answer, platform, workspace, channel, thread, asker, message, mark, asked, since, tries, checked"

_ON = "platform IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Correction:
    """A pending correction. `mark` names the posted messages, `since` (seconds since 1970) when it was requested.

    `checked`: the answer is to be replaced; else only if its readers may not read its sources any more.
    """

    answer: str
    place: Place
    asker: str
    message: str
    mark: str
    asked: datetime
    since: float
    tries: int
    checked: bool


class Corrections:
    """The pending corrections. `news` is set when one is requested; times are seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.news = asyncio.Event()

    async def due(self, now: float, platforms: Collection[str], limit: int) -> list[Correction]:
        """Up to so many corrections on these platforms that may be tried now, first those that are certain."""
        rows = await self._database.rows(
            f"SELECT {_COLUMNS} FROM correction WHERE due <= ? AND {_ON}"
            f" ORDER BY checked DESC, due, answer LIMIT {limit}",
            (now, json.dumps(list(platforms))),
        )
        return [
            Correction(id_, Place(*place), asker, message, mark, shown(asked) or EPOCH, since, tries, bool(checked))
            for id_, *place, asker, message, mark, asked, since, tries, checked in rows
        ]

    async def next_due(self, platforms: Collection[str]) -> float | None:
        """When the next correction on these platforms may be tried; None if there is none."""
        sql = f"SELECT MIN(due) FROM correction WHERE {_ON}"
        [(due,)] = await self._database.rows(sql, (json.dumps(list(platforms)),))
        return None if due is None else float(due)

    async def delay(self, answer: str, due: float) -> None:
        """Try again at that time."""
        await self._database.write("UPDATE correction SET tries = tries + 1, due = ? WHERE answer = ?", (due, answer))

    async def done(self, answer: str) -> None:
        """The posted answer is corrected, or cannot be."""
        await self._database.write("DELETE FROM correction WHERE answer = ?", (answer,))


async def request(db: Transaction, answers: Collection[str], *, checked: bool = True) -> bool:
    """Request the correction of those of these answers that were posted; says whether there are any."""
    made = await db.run(
        "INSERT INTO correction (answer, platform, workspace, channel, thread, asker, message, mark, asked, since, due,"
        " checked) SELECT id, platform, workspace, channel, thread, asker, message, mark, time, ?2, ?2, ?3 FROM answer"
        " WHERE id IN (SELECT value FROM json_each(?1)) AND mark <> ''"
        " ON CONFLICT DO UPDATE SET checked = MAX(checked, excluded.checked), due = MIN(due, excluded.due)"
        " RETURNING answer",
        (json.dumps(sorted(answers)), clock.time(), checked),
    )
    return bool(made)
