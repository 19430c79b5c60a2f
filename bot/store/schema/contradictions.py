"""The tables of statements that disagree."""

from __future__ import annotations

from functools import partial

from engine.storage.sql.schema import TEXT, TIME, Column, Index, columns
from engine.storage.sql.schema import Table as AnyTable

Table = partial(AnyTable, strict=True)
# Two statements that disagree, of which somebody was told, or about which somebody decided; no words of them. older,
# newer: keys of the message or the file, as in answer_provenance. state: found | settling | settled | dismissed. wrong:
# the key of the one that is not right. person: who decided it, of the platform and workspace. room: that of the right
# one. verified: the verified answer that says so, without which it is not settled any more; '' if none was made.
CONTRADICTION = Table(
    "contradiction",
    (
        Column("id", TEXT, primary=True),
        *columns(TEXT, "platform", "workspace", "older", "newer"),
        Column("state", TEXT, default="found"),
        *(Column(name, TEXT, default="") for name in ("wrong", "person", "room", "verified")),
        Column("time", TIME),
    ),
    (
        Index("contradiction_older", "older"),
        Index("contradiction_newer", "newer"),
        Index("contradiction_wrong", "wrong", where="wrong <> ''"),
    ),
)
# Whom the bot told of one, by which of its messages (answer), and when it began. A row is kept as long as both
# statements, so that nobody is told twice, and a week longer, so that nobody is told too often. state: begun | told;
# once one of the statements is forgotten, broken (what was posted of it is to be taken back) | ended.
CONTRADICTION_NOTICE = Table(
    "contradiction_notice",
    (
        *columns(TEXT, "contradiction", "person", "platform", "workspace", "answer"),
        Column("time", TIME),
        Column("state", TEXT, default="begun"),
    ),
    (Index("contradiction_notice_person", "platform, workspace, person"),),
    key="contradiction, person",
)
# When a workspace is searched next.
CONTRADICTION_SEARCH = Table(
    "contradiction_search",
    (*columns(TEXT, "platform", "workspace"), Column("due_at", TIME)),
    key="platform, workspace",
)
# People who want to be told of none.
CONTRADICTION_OFF = Table(
    "contradiction_off", columns(TEXT, "platform", "workspace", "person"), key="platform, workspace, person"
)
CONTRADICTIONS = (CONTRADICTION, CONTRADICTION_NOTICE, CONTRADICTION_SEARCH, CONTRADICTION_OFF)
