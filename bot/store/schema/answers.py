"""Tables of answers: those that are shared, and those that are written anew because a source changed."""

from __future__ import annotations

from engine.storage.sql.schema import BOOL, INT, TEXT, TIME, Column, Index, Table, columns

OF_ANSWER = "answer ON DELETE CASCADE"
# Links to answers that their askers share, at most one for each.
SHARED_ANSWER = Table(
    "shared_answer",
    (*(Column("id", TEXT, primary=True), Column("answer", TEXT, references=OF_ANSWER)), Column("time", TIME)),
    (Index("shared_answer_answer", "answer", unique=True),),
    strict=True,
)
# What supersedes a posted answer, until it has a new text or is redacted. newer: the key of the newer message;
# replaced: those of the messages that it replaces, in JSON; position: a greater one arrived later; marked: whether the
# answer says so, for want of a new text (of the latest alone); added: whether the newer message is among the sources of
# the answer for this mark alone.
SUPERSESSION = Table(
    "supersession",
    (
        Column("answer", TEXT, references=OF_ANSWER),
        *columns(TEXT, "newer", "replaced"),
        Column("position", INT),
        *(Column(name, BOOL, default=False) for name in ("marked", "added")),
    ),
    (Index("supersession_newer", "newer"),),
    key="answer, newer",
    strict=True,
)
# The same before a step of the migrations: the latest of each answer alone.
LATEST_SUPERSESSION = Table(
    "superseded_answer",
    (
        Column("answer", TEXT, primary=True, references=OF_ANSWER),
        *columns(TEXT, "newer", "replaced"),
        *(Column(name, BOOL, default=False) for name in ("marked", "added")),
    ),
    (Index("superseded_answer_newer", "newer"),),
    strict=True,
)
KEEP_LATEST_SUPERSESSIONS = (
    "INSERT INTO supersession (answer, newer, replaced, position, marked, added)"
    " SELECT answer, newer, replaced, 1, marked, added FROM superseded_answer;\nDROP TABLE superseded_answer;"
)
# What came of the latest change to a source of a posted answer; the words are those of RenewalOutcome.
# day: ISO date (UTC); tokens: that new texts of the answer cost on that day.
ANSWER_RENEWAL = Table(
    "answer_renewal",
    (
        Column("answer", TEXT, primary=True, references=OF_ANSWER),
        *columns(TEXT, "platform", "workspace", "day", "outcome"),
        Column("tokens", INT, default=0),
    ),
    (Index("answer_renewal_day", "platform, workspace, day"),),
    strict=True,
)
