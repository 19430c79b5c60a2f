"""The tables of the audit log. Times are microseconds since 1970 (UTC)."""

from __future__ import annotations

from engine.storage.sql.schema import INT, TEXT, TIME, Column, Index, Table, columns

# The audit log. An entry names people by references; audit_person says whom they mean, until they are forgotten.
# time: of the clock; hash: of the entry and of the hash before it. details: JSON with ids and numbers, never texts.
AUDIT_ENTRY = Table(
    "audit_entry",
    (
        Column("number", INT, primary=True),
        Column("time", TIME),
        *columns(TEXT, "action", "state", "door", "actor", "target", "workspace", "place", "details", "hash"),
    ),
    (
        Index("audit_entry_time", "time"),
        Index("audit_entry_actor", "actor"),
        Index("audit_entry_target", "target"),
        Index("audit_entry_workspace", "workspace, number"),
    ),
    strict=True,
)
# Where the chain of the audit log begins (anchor: the last entry that retention removed) and ends (head).
AUDIT_POINT = Table(
    "audit_point", (Column("name", TEXT, primary=True), Column("number", INT), Column("hash", TEXT)), strict=True
)
AUDIT_PERSON = Table(
    "audit_person",
    (Column("reference", TEXT, primary=True), *columns(TEXT, "platform", "workspace", "person")),
    (Index("audit_person_person", "platform, workspace, person", unique=True),),
    strict=True,
)

AUDIT = (AUDIT_ENTRY, AUDIT_POINT, AUDIT_PERSON)
