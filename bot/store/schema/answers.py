"""The tables of answers. Times are microseconds since 1970 (UTC) unless the comment says otherwise."""

from __future__ import annotations

from functools import partial

from bot.store.schema.erasure import CLAIM
from engine.storage.sql.schema import BOOL, INT, REAL, TEXT, TIME, Column, DialectText, Index, columns
from engine.storage.sql.schema import Table as AnyTable

OF_ANSWER = "answer ON DELETE CASCADE"
PLACE = ("platform", "workspace", "channel")
SMALL = DialectText(INT.sqlite, "integer")
Table = partial(AnyTable, strict=True)

ANSWERS = (
    # Answers. sources, spaces, rooms: JSON. The options of a question are in its event until it is answered.
    Table(
        "answer",
        (
            Column("id", TEXT, primary=True),
            *columns(TEXT, *PLACE, "thread", "room", "asker", "question"),
            *(Column("time", TIME), Column("message", TEXT), Column("private", BOOL), Column("text", TEXT, default="")),
            *(Column(name, TEXT, default="[]") for name in ("sources", "spaces", "rooms")),
            Column("reply_ref", TEXT, default=""),  # the adapter's reference to the posted messages
            Column("state", TEXT, default="started"),  # started | done | failed | redacted
            Column("stopped_by", TEXT, default=""),  # who stopped it while it was written; empty if nobody did
            # How often the question was answered again, the event that asked for it last, and when.
            Column("attempt", SMALL, default=0),
            *(Column("repeat_event", TEXT, default=""), Column("repeated_at", TIME, default=0)),
            Column("suggestions", TEXT, default="[]"),  # the questions suggested below it, as JSON
        ),
        (
            Index("answer_thread", "room, thread, time"),
            Index("answer_room", "room, time"),
            Index("answer_question", "room, message"),
            Index("answer_asker", "asker"),
            Index("answer_time", "time"),
        ),
    ),
    # Posted messages of an answer, as listed in its reply_ref.
    Table(
        "answer_message",
        (Column("message", TEXT), Column("answer", TEXT, references="answer ON DELETE CASCADE")),
        (Index("answer_message_answer", "answer"),),
        key="message, answer",
    ),
    # Documents and messages (key) behind an answer; deleted when the answer is redacted.
    # used: false if a model was shown it but the answer contains nothing of it.
    Table(
        "answer_provenance",
        (
            Column("answer", TEXT, references="answer ON DELETE CASCADE"),
            *(Column("key", TEXT), Column("used", BOOL, default=True)),
        ),
        (Index("answer_provenance_key", "key"),),
        key="answer, key",
    ),
    # Recently deleted documents and messages (key), checked by answers that were being written at that time.
    # removed_at: seconds since 1970.
    Table("recent_removal", (Column("key", TEXT, primary=True), Column("removed_at", REAL))),
    # Redactions to run after a deletion in the engine: stored before it, deleted when the redaction is done.
    # key: of a document or a message; part_of: the document of the message. claimed_by: the process that finishes it;
    # NULL once it is gone, and where one process is alone.
    Table(
        "pending_redaction",
        (*columns(TEXT, "key", "part_of"), Column("claimed_by", CLAIM, nullable=True)),
        key="key, part_of",
    ),
    # Posted answers that lost a source, until the platform shows their corrected text.
    Table(
        "answer_correction",
        (
            Column("answer", TEXT, primary=True),
            *columns(TEXT, *PLACE, "thread", "asker", "message", "reply_ref"),
            Column("asked_at", TIME),
            *columns(REAL, "requested_at", "due_at"),  # seconds since 1970
            Column("attempts", INT, default=0),
            # False: correct it only if its audience may no longer read its sources.
            Column("confirmed", BOOL, default=True),
        ),
        (Index("answer_correction_due_at", "due_at"),),
    ),
    # reason, comment: why an answer did not help; a reason is one of a list.
    Table(
        "feedback",
        (
            Column("answer", TEXT, references="answer ON DELETE CASCADE"),
            *(Column("person", TEXT), Column("up", BOOL)),
            *(Column("reason", TEXT, default=""), Column("comment", TEXT, default="")),
        ),
        key="answer, person",
    ),
)

# Links to answers that their askers share, at most one for each.
SHARED_ANSWER = Table(
    "shared_answer",
    (*(Column("id", TEXT, primary=True), Column("answer", TEXT, references=OF_ANSWER)), Column("time", TIME)),
    (Index("shared_answer_answer", "answer", unique=True),),
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
)
