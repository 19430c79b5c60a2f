-- Version 1 of the bot's tables, as its files have it; the source of the tables explains them.
CREATE TABLE event (id INTEGER PRIMARY KEY AUTOINCREMENT, event_type TEXT NOT NULL, payload TEXT,
    state TEXT NOT NULL DEFAULT 'waiting', attempts INTEGER NOT NULL DEFAULT 0, due_at REAL NOT NULL,
    received_at REAL NOT NULL, error TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX event_waiting ON event (id) WHERE state = 'waiting';
CREATE INDEX event_received_at ON event (received_at);
CREATE TABLE idempotency_key (key TEXT PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES event ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_event ON idempotency_key (event);
CREATE TABLE channel (room TEXT PRIMARY KEY, platform TEXT NOT NULL, workspace TEXT NOT NULL, channel TEXT NOT NULL,
    name TEXT NOT NULL, horizon INTEGER NOT NULL, announced INTEGER NOT NULL DEFAULT 0,
    synced_until INTEGER NOT NULL DEFAULT 0, checked_space TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE channel_settings (room TEXT PRIMARY KEY, mode TEXT NOT NULL, style TEXT NOT NULL, language TEXT NOT NULL,
    reply_to TEXT NOT NULL, ingest INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE backfill_cursor (room TEXT PRIMARY KEY, since INTEGER NOT NULL, before TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0, due_at REAL NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE message (room TEXT NOT NULL, id TEXT NOT NULL, thread TEXT NOT NULL, author TEXT NOT NULL,
    time INTEGER NOT NULL, digest TEXT NOT NULL, document TEXT NOT NULL, tokens INTEGER NOT NULL,
    applied INTEGER NOT NULL, PRIMARY KEY (room, id)) STRICT, WITHOUT ROWID;
CREATE INDEX message_document ON message (document) WHERE document <> '';
CREATE INDEX message_author ON message (author, room, time);
CREATE INDEX message_time ON message (room, time);
CREATE INDEX message_age ON message (time, id);
CREATE INDEX message_thread ON message (room, thread) WHERE thread <> '';
CREATE TABLE unconfirmed_deletion (room TEXT NOT NULL, id TEXT NOT NULL, checks INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (room, id), FOREIGN KEY (room, id) REFERENCES message ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE TABLE tombstone (room TEXT NOT NULL, id TEXT NOT NULL, time INTEGER NOT NULL,
    requested INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (room, id)) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_time ON tombstone (time) WHERE NOT requested;
CREATE TABLE conversation (document TEXT PRIMARY KEY, room TEXT NOT NULL, thread TEXT NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, tokens INTEGER NOT NULL, open INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX conversation_room ON conversation (room, last);
CREATE INDEX conversation_open ON conversation (last) WHERE open;
CREATE TABLE file (document TEXT PRIMARY KEY, room TEXT NOT NULL, message TEXT NOT NULL, upload TEXT NOT NULL,
    author TEXT NOT NULL, time INTEGER NOT NULL, applied INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX file_message ON file (room, message);
CREATE INDEX file_upload ON file (upload);
CREATE INDEX file_author ON file (author);
CREATE TABLE answer (id TEXT PRIMARY KEY, platform TEXT NOT NULL, workspace TEXT NOT NULL, channel TEXT NOT NULL,
    thread TEXT NOT NULL, room TEXT NOT NULL, asker TEXT NOT NULL, question TEXT NOT NULL, time INTEGER NOT NULL,
    message TEXT NOT NULL, private INTEGER NOT NULL, text TEXT NOT NULL DEFAULT '', sources TEXT NOT NULL DEFAULT '[]',
    spaces TEXT NOT NULL DEFAULT '[]', rooms TEXT NOT NULL DEFAULT '[]', reply_ref TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'started') STRICT, WITHOUT ROWID;
CREATE INDEX answer_thread ON answer (room, thread, time);
CREATE INDEX answer_room ON answer (room, time);
CREATE INDEX answer_question ON answer (room, message);
CREATE INDEX answer_asker ON answer (asker);
CREATE INDEX answer_time ON answer (time);
CREATE TABLE answer_message (message TEXT NOT NULL, answer TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    PRIMARY KEY (message, answer)) STRICT, WITHOUT ROWID;
CREATE INDEX answer_message_answer ON answer_message (answer);
CREATE TABLE answer_provenance (answer TEXT NOT NULL REFERENCES answer ON DELETE CASCADE, key TEXT NOT NULL,
    used INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (answer, key)) STRICT, WITHOUT ROWID;
CREATE INDEX answer_provenance_key ON answer_provenance (key);
CREATE TABLE recent_removal (key TEXT PRIMARY KEY, removed_at REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE pending_redaction (key TEXT NOT NULL, part_of TEXT NOT NULL,
    PRIMARY KEY (key, part_of)) STRICT, WITHOUT ROWID;
CREATE TABLE answer_correction (answer TEXT PRIMARY KEY, platform TEXT NOT NULL, workspace TEXT NOT NULL,
    channel TEXT NOT NULL, thread TEXT NOT NULL, asker TEXT NOT NULL, message TEXT NOT NULL, reply_ref TEXT NOT NULL,
    asked_at INTEGER NOT NULL, requested_at REAL NOT NULL, due_at REAL NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
    confirmed INTEGER NOT NULL DEFAULT 1) STRICT, WITHOUT ROWID;
CREATE INDEX answer_correction_due_at ON answer_correction (due_at);
CREATE TABLE feedback (answer TEXT NOT NULL REFERENCES answer ON DELETE CASCADE, person TEXT NOT NULL,
    up INTEGER NOT NULL, PRIMARY KEY (answer, person)) STRICT, WITHOUT ROWID;
CREATE TABLE opt_out (platform TEXT NOT NULL, workspace TEXT NOT NULL, person TEXT NOT NULL, ended_at INTEGER,
    PRIMARY KEY (platform, workspace, person)) STRICT, WITHOUT ROWID;
CREATE TABLE shown_hint (platform TEXT NOT NULL, workspace TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, name)) STRICT, WITHOUT ROWID;
CREATE TABLE daily_usage (platform TEXT NOT NULL, workspace TEXT NOT NULL, day TEXT NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, day)) STRICT, WITHOUT ROWID;
