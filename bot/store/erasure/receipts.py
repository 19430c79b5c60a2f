"""Table of receipts of erasures, and the ids of what is stored now, with which a receipt is compared."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from bot.store.access.audit_log import append_event
from bot.store.models import Subject
from engine.storage.sql.fragments import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bot.store.access.audit_log import AuditEvent
    from bot.store.database import Database, Row
    from engine import Clock
    from engine.storage.sql.connection import Connection

_COLUMNS, _TARGET = "id, time, owner, action, document", "platform, workspace, person"


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt as JSON (`document`). `owner`: who asked for the erasure, as a keyed name; "" for the operator."""

    id: str
    time: datetime
    owner: str
    action: str
    document: str


@dataclass(frozen=True, slots=True)
class BegunErasure:
    """An erasure that was begun, with its later receipt. `target`: the person who is forgotten, or the workspace."""

    receipt: StoredReceipt
    target: Subject


class ErasureReceipts:
    """Receipts of erasures, which are kept. `process`: the one that erases; None if it is alone."""

    def __init__(self, database: Database, clock: Clock, process: int | None) -> None:
        self._database = database
        self._clock = clock
        self._process = process

    async def begin(self, receipt: StoredReceipt, target: Subject) -> None:
        """Keep the receipt of an erasure that begins, so that it is completed if this process ends before.

        `target`: as in `BegunErasure`; nobody, if only what the receipt names goes.
        """
        id_, time, *rest = astuple(receipt)
        await self._database.execute(
            f"INSERT INTO pending_erasure ({_COLUMNS}, {_TARGET}, claimed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (id_, to_micros(time), *rest, target.platform, target.workspace, target.person, self._process),
        )

    async def cancel(self, id_: str, entry: AuditEvent | None = None) -> None:
        """Forget that an erasure was begun: it failed, and whoever asked knows that, or it is done without a receipt.

        `entry`: of the audit log, that is written with it.
        """
        await self._database.write(_cancel, id_, entry, self._clock.now())

    async def add(self, receipt: StoredReceipt, entry: AuditEvent | None = None) -> None:
        """Keep the receipt of an erasure that is done; again, it is the same.

        `entry`: of the audit log, that is written with it, and no second time.
        """
        await self._database.write(_add, receipt, entry, self._clock.now())

    async def list_abandoned(self) -> list[BegunErasure]:
        """The erasures that no running process completes."""
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS}, {_TARGET} FROM pending_erasure WHERE claimed_by IS NULL ORDER BY time, id"
        )
        receipts = _to_receipts(row[:-3] for row in rows)
        return [BegunErasure(receipt, Subject(*row[-3:])) for receipt, row in zip(receipts, rows, strict=True)]

    async def get_latest(self, owner: str, action: str, since: datetime) -> StoredReceipt | None:
        """The latest receipt of somebody for an action since a time, or None."""
        condition = "owner = ? AND action = ? AND time >= ? ORDER BY time DESC, id LIMIT 1"
        return next(iter(await self._select(condition, owner, action, to_micros(since))), None)

    async def get(self, id_: str) -> StoredReceipt | None:
        """The receipt with this id, or None."""
        return next(iter(await self._select("id = ?", id_)), None)

    async def list_newest(self, owner: str | None = None, limit: int = 1000) -> list[StoredReceipt]:
        """The newest receipts; `owner`: only those of this keyed name."""
        condition, parameters = ("true", ()) if owner is None else ("owner = ?", (owner,))
        return await self._select(f"{condition} ORDER BY time DESC, id LIMIT {limit}", *parameters)

    async def list_message_ids(self) -> list[tuple[str, str, str]]:
        """All messages that are stored, as (room, id, document)."""
        rows = await self._database.fetch_all("SELECT room, id, document FROM message ORDER BY room, id")
        return [(room, id_, document) for room, id_, document in rows]

    async def list_answer_texts(self) -> list[tuple[str, int]]:
        """All answers that have a text, as (id, attempt); not what stays of a redacted one."""
        rows = await self._database.fetch_all(
            "SELECT id, attempt FROM answer WHERE (text <> '' OR question <> '') AND state <> 'redacted' ORDER BY id"
        )
        return [(id_, attempt) for id_, attempt in rows]

    async def _select(self, condition: str, *parameters: Any) -> list[StoredReceipt]:
        rows = await self._database.fetch_all(f"SELECT {_COLUMNS} FROM erasure_receipt WHERE {condition}", parameters)
        return _to_receipts(rows)


def _add(db: Connection, receipt: StoredReceipt, entry: AuditEvent | None, now: datetime) -> None:
    id_, time, *rest = astuple(receipt)
    db.execute("DELETE FROM pending_erasure WHERE id = ?", (id_,))
    sql = f"INSERT INTO erasure_receipt ({_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id"
    is_new = bool(list(db.execute_fetchall(sql, (id_, to_micros(time), *rest))))
    if entry is not None and is_new:
        append_event(db, entry, now)


def _cancel(db: Connection, id_: str, entry: AuditEvent | None, now: datetime) -> None:
    db.execute("DELETE FROM pending_erasure WHERE id = ?", (id_,))
    if entry is not None:
        append_event(db, entry, now)


def _to_receipts(rows: Iterable[Row]) -> list[StoredReceipt]:
    return [
        StoredReceipt(id_, from_micros(time) or EPOCH, owner, action, document)
        for id_, time, owner, action, document in rows
    ]
