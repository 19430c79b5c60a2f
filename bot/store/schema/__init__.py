"""The tables of the bot. Times are microseconds since 1970 (UTC) unless the comment says otherwise."""

from __future__ import annotations

from functools import partial

from bot.store.schema.answers import (
    ANSWER_RENEWAL,
    ANSWERS,
    KEEP_LATEST_SUPERSESSIONS,
    LATEST_SUPERSESSION,
    PLACE,
    SHARED_ANSWER,
    SMALL,
    SUPERSESSION,
)
from bot.store.schema.audit import AUDIT
from bot.store.schema.contradictions import CONTRADICTIONS
from bot.store.schema.erasure import CLAIM, ERASURE_RECEIPT, PENDING_ERASURE
from bot.store.schema.reports import MANAGER_REPORT
from bot.store.schema.sources import DOCUMENT_SOURCE, SOURCE_FORGOTTEN, SOURCE_ITEM
from bot.store.schema.watches import WATCHES
from engine.storage.sql.schema import BOOL, ID, INT, REAL, TEXT, TIME, Column, Index, columns
from engine.storage.sql.schema import Table as AnyTable
from engine.storage.sql.schema_source import Migration, SchemaSource, add_column, create_table, run

Table = partial(AnyTable, strict=True)
PROGRAM_ANSWERS = Column("answers", INT, default=0)
# What corrections of the graph changed in a space; made, removed: JSON.
CORRECTION_CHANGE = Table(
    "correction_change",
    (Column("id", TEXT, primary=True), *columns(TEXT, "space", "made", "removed"), Column("time", TIME)),
    (Index("correction_change_time", "time"),),
)
# Files that were shared and not read. key: of the document that each would be; reason: a sentence in English.
UNREAD_FILE = Table(
    "unread_file",
    (
        Column("key", TEXT, primary=True),
        *columns(TEXT, "space", "room", "message", "upload", "author"),
        *(Column("time", TIME), *columns(TEXT, "name", "family", "reason")),
    ),
    (Index("unread_file_room", "room, time"), Index("unread_file_space", "space, time")),
)
SOURCES = (DOCUMENT_SOURCE, SOURCE_ITEM, SOURCE_FORGOTTEN)
OF_CHANGES = (ANSWER_RENEWAL, ERASURE_RECEIPT, *WATCHES)
NEWEST = (PENDING_ERASURE, *CONTRADICTIONS, MANAGER_REPORT)
LATER = (CORRECTION_CHANGE, UNREAD_FILE, *AUDIT, *SOURCES, SHARED_ANSWER, *OF_CHANGES, *NEWEST, SUPERSESSION)
# In the order of the migrations that create them.
CREATED = (
    *(UNREAD_FILE, *AUDIT, DOCUMENT_SOURCE, SOURCE_ITEM, SHARED_ANSWER, SOURCE_FORGOTTEN),
    *(*OF_CHANGES, LATEST_SUPERSESSION, *NEWEST),
)

EVENTS = (
    # Platform events, stored before they are handled. payload: the event as JSON, NULL once it is handled.
    # workspace: its key (platform:workspace), by which the queue is fair. ordering_key: events with the same one are
    # handled in order by one process; '' needs no order. claimed_by: the process that handles it.
    Table(
        "event",
        (
            Column("id", ID),
            Column("event_type", TEXT),  # class name of the event
            Column("payload", TEXT, nullable=True),
            Column("state", TEXT, default="waiting"),  # waiting | done | failed
            Column("attempts", INT, default=0),
            *columns(REAL, "due_at", "received_at"),  # seconds since 1970
            Column("error", TEXT, default=""),  # class name of the last error, never its text
            *(Column("workspace", TEXT, default=""), Column("ordering_key", TEXT, default="")),
            Column("claimed_by", CLAIM, nullable=True),
        ),
        (
            Index("event_received_at", "received_at"),
            Index("event_waiting", "workspace, id", where="state = 'waiting'"),
            Index("event_unordered", "workspace, id", where="state = 'waiting' AND ordering_key = ''"),
            Index("event_due_at", "due_at", where="state = 'waiting'"),
            Index("event_claimed", "ordering_key", where="claimed_by IS NOT NULL"),
        ),
    ),
    # Keys by which a repeated delivery of an event is recognized.
    Table(
        "idempotency_key",
        (Column("key", TEXT, primary=True), Column("event", INT, references="event ON DELETE CASCADE")),
        (Index("idempotency_key_event", "event"),),
    ),
)

CHANNELS = (
    # Channels that the bot is a member of. room: the key of a channel, by which the engine knows it too.
    Table(
        "channel",
        (
            Column("room", TEXT, primary=True),
            *columns(TEXT, *PLACE, "name"),
            Column("horizon", TIME),  # older messages were never requested
            Column("announced", BOOL, default=False),  # whether the bot introduced itself in the channel
            Column("synced_until", TIME, default=0),  # all messages, edits and deletions until then are processed
            Column("checked_space", TEXT, default=""),  # space of its documents when posted answers were last checked
            Column("imported", BOOL, default=False),  # whether messages of the channel were imported from an export
            # The time of the newest export of the channel that was imported, so that older ones change nothing.
            Column("imported_until", TIME, nullable=True),
        ),
    ),
    # Settings of channels; they are kept when the bot leaves.
    Table(
        "channel_settings",
        (
            Column("room", TEXT, primary=True),
            *columns(TEXT, "mode", "style", "language", "reply_to"),
            Column("ingest", BOOL),
            Column("links", BOOL, default=False),  # whether the pages are read that messages of a channel link to
            # Which model answers, who may ask, what is read: messages, files or both, and messages of bots; whether it
            # has suggestions: on | off. '': the bot's setting.
            *(Column(name, TEXT, default="") for name in ("model", "askers", "content", "bot_messages", "suggestions")),
        ),
    ),
    # Unfinished back-fills. before: the oldest message of the channel that is ingested.
    Table(
        "backfill_cursor",
        (
            Column("room", TEXT, primary=True),
            Column("since", TIME),
            Column("before", TEXT, default=""),
            Column("attempts", INT, default=0),
            Column("due_at", REAL, default=0),  # seconds since 1970
        ),
    ),
)

MESSAGES = (
    # Messages, without their texts. document: the conversation that contains it, '' if it is not indexed.
    Table(
        "message",
        (
            *columns(TEXT, "room", "id", "thread", "author"),
            *(Column("time", TIME), Column("digest", TEXT), Column("document", TEXT), Column("tokens", INT)),
            Column("applied", BOOL),  # whether the engine has stored it
        ),
        (
            Index("message_document", "document", where="document <> ''"),
            Index("message_author", "author, room, time"),
            Index("message_time", "room, time"),
            Index("message_age", "time, id"),
            Index("message_thread", "room, thread", where="thread <> ''"),
        ),
        key="room, id",
    ),
    # Messages absent from a listing, until the platform confirms or denies their deletion. checks: requests so far.
    Table(
        "unconfirmed_deletion",
        (*columns(TEXT, "room", "id"), Column("checks", INT, default=0)),
        key="room, id",
        constraints=("FOREIGN KEY (room, id) REFERENCES message ON DELETE CASCADE",),
    ),
    # Deleted messages, files and documents: late events about them are ignored.
    # requested: a person had it deleted, so the platform may still mention it at any time; other tombstones expire.
    Table(
        "tombstone",
        (
            *columns(TEXT, "room", "id"),
            Column("time", TIME),  # when the bot learned of the deletion
            Column("requested", BOOL, default=True),
        ),
        (Index("tombstone_time", "time", where="NOT requested"),),
        key="room, id",
    ),
    # Conversation documents: windows of a channel, and threads (with the id of their root).
    Table(
        "conversation",
        (
            Column("document", TEXT, primary=True),
            *columns(TEXT, "room", "thread"),
            *columns(INT, "first", "last", "tokens"),
            Column("open", BOOL),
        ),
        (Index("conversation_room", "room, last"), Index("conversation_open", "last", where="open")),
    ),
    # Files that are documents.
    Table(
        "file",
        (
            Column("document", TEXT, primary=True),
            *columns(TEXT, "room", "message", "upload", "author"),
            Column("time", TIME),
            Column("applied", BOOL),  # whether the engine has stored all of the upload
        ),
        (Index("file_message", "room, message"), Index("file_upload", "upload"), Index("file_author", "author")),
    ),
)

PEOPLE = (
    # People whose messages are not indexed. ended_at: when they opted in again; older messages stay excluded.
    Table(
        "opt_out",
        (*columns(TEXT, "platform", "workspace", "person"), Column("ended_at", TIME, nullable=True)),
        key="platform, workspace, person",
    ),
    # Hints that a workspace is shown only once.
    Table("shown_hint", columns(TEXT, "platform", "workspace", "name"), key="platform, workspace, name"),
    # Tokens, and cost in US dollars, per workspace and day (2026-11-20). answers: those given to programs and at the
    # terminal; the others are rows of answer.
    Table(
        "daily_usage",
        (
            *columns(TEXT, "platform", "workspace", "day"),
            *(Column("tokens", INT), Column("cost", REAL, default=0), PROGRAM_ANSWERS),
        ),
        key="platform, workspace, day",
    ),
)

ACCESS = (
    # Installations of the app. workspace: the id of a workspace or organization. payload: encrypted by the adapter.
    Table("installation", columns(TEXT, "platform", "workspace", "payload"), key="platform, workspace"),
    # Installations that somebody began in a browser. state: the secret that comes back once. expires_at: seconds since
    # 1970.
    Table(
        "installation_state",
        (Column("state", TEXT, primary=True), Column("expires_at", REAL)),
        (Index("installation_state_expires_at", "expires_at"),),
    ),
    # Questions of the last minute. asked_at: seconds since 1970.
    Table(
        "recent_question",
        (*columns(TEXT, "platform", "workspace", "person"), Column("asked_at", REAL)),
        (
            Index("recent_question_person", "platform, workspace, person, asked_at"),
            Index("recent_question_asked_at", "asked_at"),
        ),
    ),
    # Scheduled digests: of a channel, or of what a person can read, in their direct messages (personal).
    Table(
        "digest",
        (
            Column("room", TEXT, primary=True),
            *columns(TEXT, *PLACE),
            Column("person", TEXT),  # who asked for it
            Column("personal", BOOL),
            Column("schedule", TEXT),  # such as "weekly monday 09:00 Europe/Berlin"
            Column("since", TIME),  # what happened before was in an earlier one
            Column("due_at", TIME),
            Column("posted", TEXT),  # the message above the digest that is being written, or ''
            Column("failures", SMALL, default=0),  # consecutive failed attempts to write one
        ),
        (Index("digest_due_at", "due_at"),),
    ),
    # What an adapter keeps across restarts, and what the processes on one database agree on.
    Table("adapter_state", columns(TEXT, "platform", "name", "value"), key="platform, name"),
    # Access tokens of programs. A subject is a person of a workspace, or a space of the terminal; digest: SHA-256 of
    # the secret, which is not stored. permissions: words (ask read write manage).
    Table(
        "access_token",
        (
            Column("id", TEXT, primary=True),
            *columns(TEXT, "name", "platform", "workspace", "person", "space", "permissions"),
            *(Column("requests_per_minute", INT), Column("created_at", TIME)),
            *(Column("expires_at", TIME, nullable=True), Column("used_at", TIME, nullable=True)),
            Column("digest", TEXT),
        ),
    ),
)

REVIEW = (
    # Answers that a person verified. sources, spaces, rooms: JSON, as in answer. A withdrawn one (state 'review') keeps
    # no text: a source of it was removed or changed.
    Table(
        "verified_answer",
        (
            Column("id", TEXT, primary=True),
            *columns(TEXT, *PLACE, "thread"),
            Column("room", TEXT),  # where it was verified
            Column("message", TEXT),  # the message to link to: of the question, or of a person's answer
            *columns(TEXT, "question", "text", "sources", "spaces", "rooms"),
            Column("asker", TEXT),  # whose question it was
            Column("author", TEXT),  # the person who wrote the text, '' if the bot did
            *(Column("verifier", TEXT), Column("verified_at", TIME)),
            Column("state", TEXT),  # valid | review
            Column("reported", BOOL),  # whether the verifier knows that it was withdrawn
        ),
        (
            Index("verified_answer_workspace", "platform, workspace, state"),
            Index("verified_answer_room", "room"),
            Index("verified_answer_unreported", "id", where="NOT reported"),
        ),
    ),
    # Documents and messages that a verified answer rests on; keys as in answer_provenance.
    Table(
        "verified_provenance",
        (Column("verified", TEXT, references="verified_answer ON DELETE CASCADE"), Column("key", TEXT)),
        (Index("verified_provenance_key", "key"),),
        key="verified, key",
    ),
    # People to ask about a topic, named by managers in a channel (room).
    Table(
        "expert",
        columns(TEXT, "room", "person", "topic", "platform", "workspace"),
        (Index("expert_workspace", "platform, workspace"),),
        key="room, person, topic",
    ),
    # Questions that an expert was asked, each once, by whom and when (seconds since 1970); answer: that did not help.
    Table(
        "expert_request",
        (*columns(TEXT, "answer", "person", "platform", "workspace", "asker"), Column("asked_at", REAL)),
        (Index("expert_request_asked_at", "asked_at"),),
        key="answer, person",
    ),
)

MIGRATIONS = (
    Migration(
        add_column("daily_usage", PROGRAM_ANSWERS),
        create_table(CORRECTION_CHANGE),
        online="an older process uses neither the column, which has a default, nor the table.",
    ),
    *(Migration(create_table(table), online="an older process does not use the table.") for table in CREATED),
    # Not online: an older process would look for the former table.
    Migration(create_table(SUPERSESSION), run(KEEP_LATEST_SUPERSESSIONS, KEEP_LATEST_SUPERSESSIONS)),
)

SOURCE = SchemaSource(
    "bot.store.schema",
    frozen=16,
    tables=(*EVENTS, *CHANNELS, *MESSAGES, *ANSWERS, *PEOPLE, *ACCESS, *REVIEW, *LATER),
    migrations=MIGRATIONS,
)
