"""The tables of standing requests."""

from __future__ import annotations

from functools import partial

from engine.storage.sql.schema import TEXT, TIME, Column, Index, columns
from engine.storage.sql.schema import Table as AnyTable

Table = partial(AnyTable, strict=True)
# What somebody wants to be told of. kind: mentioned | decided | changed. subject: their words. A space of the terminal
# is a workspace of the platform "space".
WATCH = Table(
    "watch",
    (
        Column("id", TEXT, primary=True),
        *columns(TEXT, "platform", "workspace", "person", "kind", "subject"),
        Column("created_at", TIME),
    ),
    (Index("watch_workspace", "platform, workspace, person"),),
)
# New and edited messages, and new files (by the key of their document), of workspaces with standing requests, that
# were not compared with these yet.
WATCH_CANDIDATE = Table(
    "watch_candidate", (*columns(TEXT, "room", "message"), Column("noted_at", TIME)), key="room, message"
)
# Messages and files that a standing request waited for. answer: the message of the bot that tells of it, '' while none
# was begun; told: whether that is posted. A row is kept so that nobody is told twice.
WATCH_NOTICE = Table(
    "watch_notice",
    (
        Column("watch", TEXT, references="watch ON DELETE CASCADE"),
        *columns(TEXT, "room", "message"),
        *(Column("found_at", TIME), Column("answer", TEXT, default="")),
        Column("state", TEXT, default="waiting"),  # waiting | told | dropped
    ),
    (Index("watch_notice_waiting", "watch", where="state = 'waiting'"), Index("watch_notice_message", "room, message")),
    key="watch, room, message",
)
WATCHES = (WATCH, WATCH_CANDIDATE, WATCH_NOTICE)
