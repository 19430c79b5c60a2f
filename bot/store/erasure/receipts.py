"""Table of receipts of erasures, and the ids of what is stored now, with which a receipt is compared."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from engine.storage.sql.timestamps import EPOCH, from_micros, to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store.database import Database

_COLUMNS = "id, time, owner, action, document"


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A receipt as JSON (`document`). `owner`: who asked for the erasure, as a keyed name; "" for the operator."""

    id: str
    time: datetime
    owner: str
    action: str
    document: str


class ErasureReceipts:
    """Receipts of erasures, which are kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, receipt: StoredReceipt) -> None:
        """Keep a receipt."""
        id_, time, *rest = astuple(receipt)
        await self._database.execute(
            f"INSERT INTO erasure_receipt ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (id_, to_micros(time), *rest)
        )

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
        return [
            StoredReceipt(id_, from_micros(time) or EPOCH, owner, action, document)
            for id_, time, owner, action, document in rows
        ]
