-- Tables of the bot's database. Times are microseconds since 1970 (UTC) unless the comment says otherwise.

-- Platform events, stored before they are handled. payload: the event as JSON, NULL once it is handled.
CREATE TABLE event (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    event_type  TEXT NOT NULL,                     -- class name of the event
    payload     TEXT,
    state       TEXT NOT NULL DEFAULT 'waiting',   -- waiting | done | failed
    attempts    INTEGER NOT NULL DEFAULT 0,
    due_at      REAL NOT NULL,                     -- seconds since 1970
    received_at REAL NOT NULL,                     -- seconds since 1970
    error       TEXT NOT NULL DEFAULT ''           -- class name of the last error, never its text
) STRICT;
CREATE INDEX event_waiting ON event (id) WHERE state = 'waiting';
CREATE INDEX event_received_at ON event (received_at);

-- Keys by which a repeated delivery of an event is recognized.
CREATE TABLE idempotency_key (
    key   TEXT PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES event ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_event ON idempotency_key (event);

-- Channels that the bot is a member of. room: the key of a channel, by which the engine knows it too.
CREATE TABLE channel (
    room          TEXT PRIMARY KEY,
    platform      TEXT NOT NULL,
    workspace     TEXT NOT NULL,
    channel       TEXT NOT NULL,
    name          TEXT NOT NULL,
    horizon       INTEGER NOT NULL,                -- older messages were never requested
    announced     INTEGER NOT NULL DEFAULT 0,      -- whether the bot introduced itself in the channel
    synced_until  INTEGER NOT NULL DEFAULT 0,      -- all messages, edits and deletions until then are processed
    checked_space TEXT NOT NULL DEFAULT ''         -- space of its documents when posted answers were last checked
) STRICT, WITHOUT ROWID;

-- Settings of channels; they are kept when the bot leaves.
CREATE TABLE channel_settings (
    room     TEXT PRIMARY KEY,
    mode     TEXT NOT NULL,
    style    TEXT NOT NULL,
    language TEXT NOT NULL,
    reply_to TEXT NOT NULL,
    ingest   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Unfinished back-fills. before: the oldest message of the channel that is ingested.
CREATE TABLE backfill_cursor (
    room     TEXT PRIMARY KEY,
    since    INTEGER NOT NULL,
    before   TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at   REAL NOT NULL DEFAULT 0               -- seconds since 1970
) STRICT, WITHOUT ROWID;

-- Messages, without their texts. document: the conversation that contains it, '' if it is not indexed.
CREATE TABLE message (
    room     TEXT NOT NULL,
    id       TEXT NOT NULL,
    thread   TEXT NOT NULL,
    author   TEXT NOT NULL,
    time     INTEGER NOT NULL,
    digest   TEXT NOT NULL,
    document TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    applied  INTEGER NOT NULL,                     -- whether the engine has stored it
    PRIMARY KEY (room, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_document ON message (document) WHERE document <> '';
CREATE INDEX message_author ON message (author, room, time);
CREATE INDEX message_time ON message (room, time);
CREATE INDEX message_age ON message (time, id);
CREATE INDEX message_thread ON message (room, thread) WHERE thread <> '';

-- Messages absent from a listing, until the platform confirms or denies their deletion. checks: requests so far.
CREATE TABLE unconfirmed_deletion (
    room   TEXT NOT NULL,
    id     TEXT NOT NULL,
    checks INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (room, id),
    FOREIGN KEY (room, id) REFERENCES message ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Deleted messages, files and documents: late events about them are ignored.
-- requested: a person had it deleted, so the platform may still mention it at any time; other tombstones expire.
CREATE TABLE tombstone (
    room      TEXT NOT NULL,
    id        TEXT NOT NULL,
    time      INTEGER NOT NULL,                    -- when the bot learned of the deletion
    requested INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (room, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_time ON tombstone (time) WHERE NOT requested;

-- Conversation documents: windows of a channel, and threads (with the id of their root).
CREATE TABLE conversation (
    document TEXT PRIMARY KEY,
    room     TEXT NOT NULL,
    thread   TEXT NOT NULL,
    first    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    tokens   INTEGER NOT NULL,
    open     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_room ON conversation (room, last);
CREATE INDEX conversation_open ON conversation (last) WHERE open;

-- Files that are documents.
CREATE TABLE file (
    document TEXT PRIMARY KEY,
    room     TEXT NOT NULL,
    message  TEXT NOT NULL,
    upload   TEXT NOT NULL,
    author   TEXT NOT NULL,
    time     INTEGER NOT NULL,
    applied  INTEGER NOT NULL                      -- whether the engine has stored all of the upload
) STRICT, WITHOUT ROWID;
CREATE INDEX file_message ON file (room, message);
CREATE INDEX file_upload ON file (upload);
CREATE INDEX file_author ON file (author);

-- Answers. sources, spaces, rooms: JSON. The options of a question are in its event until it is answered.
CREATE TABLE answer (
    id        TEXT PRIMARY KEY,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    thread    TEXT NOT NULL,
    room      TEXT NOT NULL,
    asker     TEXT NOT NULL,
    question  TEXT NOT NULL,
    time      INTEGER NOT NULL,
    message   TEXT NOT NULL,
    private   INTEGER NOT NULL,
    text      TEXT NOT NULL DEFAULT '',
    sources   TEXT NOT NULL DEFAULT '[]',
    spaces    TEXT NOT NULL DEFAULT '[]',
    rooms     TEXT NOT NULL DEFAULT '[]',
    reply_ref TEXT NOT NULL DEFAULT '',            -- the adapter's reference to the posted messages
    state     TEXT NOT NULL DEFAULT 'started'      -- started | done | failed | redacted
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_thread ON answer (room, thread, time);
CREATE INDEX answer_room ON answer (room, time);
CREATE INDEX answer_question ON answer (room, message);
CREATE INDEX answer_asker ON answer (asker);
CREATE INDEX answer_time ON answer (time);

-- Posted messages of an answer, as listed in its reply_ref.
CREATE TABLE answer_message (
    message TEXT NOT NULL,
    answer  TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    PRIMARY KEY (message, answer)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_message_answer ON answer_message (answer);

-- Documents and messages behind an answer; deleted when the answer is redacted.
-- used: 0 if a model was shown it but the answer contains nothing of it.
CREATE TABLE answer_provenance (
    answer TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    key    TEXT NOT NULL,                          -- of a document or a message
    used   INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (answer, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_provenance_key ON answer_provenance (key);

-- Recently deleted content, checked by answers that were being written at that time.
CREATE TABLE recent_removal (
    key        TEXT PRIMARY KEY,                   -- of a document or a message
    removed_at REAL NOT NULL                       -- seconds since 1970
) STRICT, WITHOUT ROWID;

-- Redactions to run after a deletion in the engine: stored before it, deleted when the redaction is done.
CREATE TABLE pending_redaction (
    key     TEXT NOT NULL,                         -- of a document or a message
    part_of TEXT NOT NULL,                         -- the document of the message
    PRIMARY KEY (key, part_of)
) STRICT, WITHOUT ROWID;

-- Posted answers that lost a source, until the platform shows their corrected text.
CREATE TABLE answer_correction (
    answer       TEXT PRIMARY KEY,
    platform     TEXT NOT NULL,
    workspace    TEXT NOT NULL,
    channel      TEXT NOT NULL,
    thread       TEXT NOT NULL,
    asker        TEXT NOT NULL,
    message      TEXT NOT NULL,
    reply_ref    TEXT NOT NULL,
    asked_at     INTEGER NOT NULL,
    requested_at REAL NOT NULL,                    -- seconds since 1970
    due_at       REAL NOT NULL,                    -- seconds since 1970
    attempts     INTEGER NOT NULL DEFAULT 0,
    confirmed    INTEGER NOT NULL DEFAULT 1        -- 0: correct it only if its audience may no longer read its sources
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_correction_due_at ON answer_correction (due_at);

CREATE TABLE feedback (
    answer TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    person TEXT NOT NULL,
    up     INTEGER NOT NULL,
    PRIMARY KEY (answer, person)
) STRICT, WITHOUT ROWID;

-- People whose messages are not indexed. ended_at: when they opted in again; older messages stay excluded.
CREATE TABLE opt_out (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    person    TEXT NOT NULL,
    ended_at  INTEGER,
    PRIMARY KEY (platform, workspace, person)
) STRICT, WITHOUT ROWID;

-- Hints that a workspace is shown only once.
CREATE TABLE shown_hint (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    name      TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, name)
) STRICT, WITHOUT ROWID;

-- Tokens per workspace and day (2026-11-20).
CREATE TABLE daily_usage (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    day       TEXT NOT NULL,
    tokens    INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, day)
) STRICT, WITHOUT ROWID;
