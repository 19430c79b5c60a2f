"""The table of weekly reports."""

from __future__ import annotations

from functools import partial

from engine.storage.sql.schema import TEXT, TIME, Column, columns
from engine.storage.sql.schema import Table as AnyTable

Table = partial(AnyTable, strict=True)
# Managers who want a weekly report, and when the next one is due.
MANAGER_REPORT = Table(
    "manager_report",
    (*columns(TEXT, "platform", "workspace", "person"), Column("due_at", TIME)),
    key="platform, workspace, person",
)
