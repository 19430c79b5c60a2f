-- Scheduled digests: of a channel, or of what a person can read, in their direct messages (personal).
CREATE TABLE digest (room TEXT PRIMARY KEY, platform TEXT NOT NULL, workspace TEXT NOT NULL, channel TEXT NOT NULL,
    person TEXT NOT NULL, personal INTEGER NOT NULL, schedule TEXT NOT NULL, since INTEGER NOT NULL,
    due_at INTEGER NOT NULL, posted TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX digest_due_at ON digest (due_at);
