"""The tables of sources of documents outside of the chat."""

from __future__ import annotations

from functools import partial

from engine.storage.sql.schema import BOOL, INT, REAL, TEXT, TIME, Column, Index, columns
from engine.storage.sql.schema import Table as AnyTable

Table = partial(AnyTable, strict=True)
# Sources of documents outside of the chat. options: JSON. space, room: of its documents. every: seconds between two
# synchronizations; due_at: of the next one, seconds since 1970. cursor: where its connector goes on. problem: why the
# last synchronization did not do everything, a sentence in English. synced_at: when one last did. removed: its
# documents are being forgotten.
DOCUMENT_SOURCE = Table(
    "source",
    (
        Column("id", TEXT, primary=True),
        *columns(TEXT, "name", "kind", "address", "options", "space", "room", "added_by"),
        *(Column("every", REAL), Column("due_at", REAL), Column("cursor", TEXT, default="")),
        *(Column("problem", TEXT, default=""), Column("failures", INT, default=0)),
        *(Column("synced_at", TIME, nullable=True), Column("removed", BOOL, default=False)),
    ),
    (Index("source_due_at", "due_at"), Index("source_room", "room")),
)
# Documents of sources. stamp, validator: by which a change is recognized. problem: why it was not read, a sentence in
# English. forgotten: a person had all of it forgotten, so that it is not read again.
SOURCE_ITEM = Table(
    "source_item",
    (
        Column("source", TEXT, references="source ON DELETE CASCADE"),
        *columns(TEXT, "item", "stamp", "validator", "problem"),
        Column("forgotten", BOOL, default=False),
    ),
    key="source, item",
)
# What persons had forgotten of sources, so that it is not stored again. key: of the document; of a file within another
# one, a hash of its name in place of its number.
SOURCE_FORGOTTEN = Table(
    "source_forgotten",
    (Column("source", TEXT, references="source ON DELETE CASCADE"), Column("key", TEXT)),
    key="source, key",
)
