"""Table of what corrections of the graph changed, so that each can be undone exactly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from engine import CorrectionChange, ManualCorrection
from engine.storage.sql.fragments import to_micros

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bot.store.database import Database

KEPT = timedelta(days=30)  # after which a correction is undone by another one


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """What a correction changed in a space. `id`: by which people name it."""

    id: str
    space: str
    change: CorrectionChange


class CorrectionChanges:
    """What the corrections of the last days changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, recorded: RecordedChange, time: datetime) -> None:
        """Keep a change for some days; older ones are deleted."""
        change = recorded.change
        row = (recorded.id, recorded.space, _dump(change.made), _dump(change.removed), to_micros(time))
        await self._database.execute_all(
            ("DELETE FROM correction_change WHERE time < ?", (to_micros(time - KEPT),)),
            ("INSERT INTO correction_change VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row),
        )

    async def get(self, id_: str) -> RecordedChange | None:
        """The change with an id; None if there is none, or it is too old."""
        sql = "SELECT space, made, removed FROM correction_change WHERE id = ?"
        row = await self._database.fetch_one(sql, (id_,))
        if row is None:
            return None
        space, made, removed = row
        return RecordedChange(id_, space, CorrectionChange(_parse(space, made), _parse(space, removed)))


def _dump(corrections: Iterable[ManualCorrection]) -> str:
    return json.dumps(
        [[correction.kind, correction.name, correction.other, correction.description] for correction in corrections]
    )


def _parse(space: str, text: str) -> tuple[ManualCorrection, ...]:
    return tuple(ManualCorrection(kind, space, *rest) for kind, *rest in json.loads(text))
