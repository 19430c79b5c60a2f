"""The table of receipts of erasures."""

from __future__ import annotations

from engine.storage.sql.schema import TEXT, TIME, Column, Index, Table, columns

# Signed receipts of what was erased, as JSON (`document`), which holds no erased word. owner: who asked for it, as a
# keyed name; '' for the operator.
ERASURE_RECEIPT = Table(
    "erasure_receipt",
    (Column("id", TEXT, primary=True), Column("time", TIME), *columns(TEXT, "owner", "action", "document")),
    (Index("erasure_receipt_time", "time"), Index("erasure_receipt_owner", "owner, time")),
    strict=True,
)
