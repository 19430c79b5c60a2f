"""The tables of receipts of erasures, and of erasures that were begun."""

from __future__ import annotations

from engine.storage.sql.schema import INT, TEXT, TIME, Column, DialectText, Index, Table, columns

CLAIM = DialectText(INT.sqlite, "bigint REFERENCES threadlore_process.process ON DELETE SET NULL")
# Signed receipts of what was erased, as JSON (`document`), which holds no erased word. owner: who asked for it, as a
# keyed name; '' for the operator.
ERASURE_RECEIPT = Table(
    "erasure_receipt",
    (Column("id", TEXT, primary=True), Column("time", TIME), *columns(TEXT, "owner", "action", "document")),
    (Index("erasure_receipt_time", "time"), Index("erasure_receipt_owner", "owner, time")),
    strict=True,
)
# Erasures that were begun, with the receipts that they get when they are done, as in erasure_receipt. platform,
# workspace, person: who is forgotten, or without a person the workspace; '' if neither is. claimed_by: the process that
# erases; NULL once it is gone, and where one process is alone.
PENDING_ERASURE = Table(
    "pending_erasure",
    (
        *(Column("id", TEXT, primary=True), Column("time", TIME), *columns(TEXT, "owner", "action", "document")),
        *columns(TEXT, "platform", "workspace", "person"),
        Column("claimed_by", CLAIM, nullable=True),
    ),
    strict=True,
)
