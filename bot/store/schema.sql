-- What the bot was told, what it knows, what it answered. Times are microseconds since 1970 (UTC) unless said otherwise.
-- A file of an earlier version becomes such a one by the scripts in migrations/.

-- Events, stored before they are worked on. payload: the record as JSON, gone once it is handled.
CREATE TABLE inbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind     TEXT NOT NULL,                     -- the record's class
    payload  TEXT,
    state    TEXT NOT NULL DEFAULT 'waiting',   -- waiting | done | failed
    tries    INTEGER NOT NULL DEFAULT 0,
    due      REAL NOT NULL,                     -- seconds since 1970
    received REAL NOT NULL,                     -- seconds since 1970
    error    TEXT NOT NULL DEFAULT ''           -- the class of the last error, never its text
) STRICT;
CREATE INDEX inbox_waiting ON inbox (id) WHERE state = 'waiting';
CREATE INDEX inbox_received ON inbox (received);

CREATE TABLE inbox_key (
    key TEXT PRIMARY KEY,
    row INTEGER NOT NULL REFERENCES inbox ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_key_row ON inbox_key (row);

-- Channels that the bot is in.
CREATE TABLE room (
    room      TEXT PRIMARY KEY,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    name      TEXT NOT NULL,
    horizon   INTEGER NOT NULL,                 -- what is older was never asked for
    announced INTEGER NOT NULL DEFAULT 0,
    compared  INTEGER NOT NULL DEFAULT 0,       -- what was said, edited and deleted until then is known
    home      TEXT NOT NULL DEFAULT ''          -- the space of its documents for which posted answers were checked
) STRICT, WITHOUT ROWID;

-- What was set for a channel; it outlives the bot's being there.
CREATE TABLE channel (
    room     TEXT PRIMARY KEY,
    mode     TEXT NOT NULL,
    style    TEXT NOT NULL,
    language TEXT NOT NULL,
    answers  TEXT NOT NULL,
    ingest   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Where a channel's back-fill stands. before: the oldest message of the channel that was taken in.
CREATE TABLE cursor (
    room   TEXT PRIMARY KEY,
    since  INTEGER NOT NULL,
    before TEXT NOT NULL DEFAULT '',
    tries  INTEGER NOT NULL DEFAULT 0,
    due    REAL NOT NULL DEFAULT 0              -- seconds since 1970
) STRICT, WITHOUT ROWID;

-- Messages, without their texts. document: the conversation it is a passage of, '' for those that are not indexed.
CREATE TABLE message (
    room     TEXT NOT NULL,
    id       TEXT NOT NULL,
    thread   TEXT NOT NULL,
    author   TEXT NOT NULL,
    time     INTEGER NOT NULL,
    digest   TEXT NOT NULL,
    document TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    settled  INTEGER NOT NULL,                  -- the engine has it too
    PRIMARY KEY (room, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_document ON message (document) WHERE document <> '';
CREATE INDEX message_author ON message (author, room, time);
CREATE INDEX message_time ON message (room, time);
CREATE INDEX message_age ON message (time, id);
CREATE INDEX message_thread ON message (room, thread) WHERE thread <> '';

-- Messages that lists lack, until the platform says what became of them. asked: how often it was asked.
CREATE TABLE missing (
    room  TEXT NOT NULL,
    id    TEXT NOT NULL,
    asked INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (room, id),
    FOREIGN KEY (room, id) REFERENCES message ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Messages, files and documents that are gone, so that what is told of after its own deletion stays out.
-- wanted: people wanted it forgotten, but the platform may tell of it at any time; of all else it tells no more.
CREATE TABLE deleted (
    room   TEXT NOT NULL,
    id     TEXT NOT NULL,
    time   INTEGER NOT NULL,                    -- when the bot was told
    wanted INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (room, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_time ON deleted (time) WHERE NOT wanted;

-- Conversations: windows, and threads (of a root).
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
    settled  INTEGER NOT NULL                   -- the engine has it too
) STRICT, WITHOUT ROWID;
CREATE INDEX file_message ON file (room, message);
CREATE INDEX file_upload ON file (upload);
CREATE INDEX file_author ON file (author);

-- Answers. sources, spaces, rooms: JSON. What a question came with is in the inbox until it is answered.
CREATE TABLE answer (
    id       TEXT PRIMARY KEY,
    platform TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel  TEXT NOT NULL,
    thread   TEXT NOT NULL,
    room     TEXT NOT NULL,
    asker    TEXT NOT NULL,
    question TEXT NOT NULL,
    time     INTEGER NOT NULL,
    message  TEXT NOT NULL,
    private  INTEGER NOT NULL,
    text     TEXT NOT NULL DEFAULT '',
    sources  TEXT NOT NULL DEFAULT '[]',
    spaces   TEXT NOT NULL DEFAULT '[]',
    rooms    TEXT NOT NULL DEFAULT '[]',
    mark     TEXT NOT NULL DEFAULT '',
    state    TEXT NOT NULL DEFAULT 'begun'      -- begun | done | failed | blanked
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_thread ON answer (room, thread, time);
CREATE INDEX answer_room ON answer (room, time);
CREATE INDEX answer_message ON answer (room, message);
CREATE INDEX answer_asker ON answer (asker);
CREATE INDEX answer_time ON answer (time);

-- Messages in which an answer stands: those that its mark names.
CREATE TABLE said (
    message TEXT NOT NULL,
    answer  TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    PRIMARY KEY (message, answer)
) STRICT, WITHOUT ROWID;
CREATE INDEX said_answer ON said (answer);

-- What an answer used, by key of document and of message. The rows go once the answer was redacted.
-- used: 0 if a model was shown it, and nothing of it can be recognized in the answer.
CREATE TABLE drawn (
    answer   TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    document TEXT NOT NULL,
    used     INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (answer, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX drawn_document ON drawn (document);

-- Documents of which something was forgotten lately, for answers that are being written meanwhile.
CREATE TABLE forgotten (
    document TEXT PRIMARY KEY,
    time     REAL NOT NULL                      -- seconds since 1970
) STRICT, WITHOUT ROWID;

-- Redactions that follow a change of the engine's documents: written down before it, removed with the redaction.
CREATE TABLE pending_redaction (
    document TEXT NOT NULL,                     -- a document or a message
    part_of  TEXT NOT NULL,                     -- the document of the message
    PRIMARY KEY (document, part_of)
) STRICT, WITHOUT ROWID;

-- Posted answers of which a source was removed, until the platform shows that.
CREATE TABLE correction (
    answer    TEXT PRIMARY KEY,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    thread    TEXT NOT NULL,
    asker     TEXT NOT NULL,
    message   TEXT NOT NULL,
    mark      TEXT NOT NULL,
    asked     INTEGER NOT NULL,
    since     REAL NOT NULL,                    -- seconds since 1970
    due       REAL NOT NULL,                    -- seconds since 1970
    tries     INTEGER NOT NULL DEFAULT 0,
    checked   INTEGER NOT NULL DEFAULT 1        -- 0: only if its readers may not read its sources any more
) STRICT, WITHOUT ROWID;
CREATE INDEX correction_due ON correction (due);

CREATE TABLE feedback (
    answer TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    person TEXT NOT NULL,
    up     INTEGER NOT NULL,
    PRIMARY KEY (answer, person)
) STRICT, WITHOUT ROWID;

-- People of whom nothing is indexed. until: nothing that is older, for them who took that back.
CREATE TABLE opted_out (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    person    TEXT NOT NULL,
    until     INTEGER,
    PRIMARY KEY (platform, workspace, person)
) STRICT, WITHOUT ROWID;

-- What a workspace is told once only.
CREATE TABLE hint (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    name      TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, name)
) STRICT, WITHOUT ROWID;

-- Tokens by workspace and day (2026-11-20).
CREATE TABLE usage (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    day       TEXT NOT NULL,
    tokens    INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, day)
) STRICT, WITHOUT ROWID;
