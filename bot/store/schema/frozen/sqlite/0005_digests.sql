-- Scheduled digests: of a channel, or of what a person can read, in their direct messages (personal).
CREATE TABLE digest (
    room      TEXT PRIMARY KEY,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    person    TEXT NOT NULL,                       -- who asked for it
    personal  INTEGER NOT NULL,
    schedule  TEXT NOT NULL,                       -- such as "weekly monday 09:00 Europe/Berlin"
    since     INTEGER NOT NULL,                    -- what happened before was in an earlier one
    due_at    INTEGER NOT NULL,
    posted    TEXT NOT NULL                        -- the message above the digest that is being written, or ''
) STRICT, WITHOUT ROWID;
CREATE INDEX digest_due_at ON digest (due_at);
