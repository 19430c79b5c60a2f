-- Access tokens of programs. A subject is a person of a workspace, or a space of the terminal; digest: SHA-256 of the
-- secret, which is not stored.
CREATE TABLE access_token (id TEXT PRIMARY KEY, name TEXT NOT NULL, platform TEXT NOT NULL, workspace TEXT NOT NULL,
    person TEXT NOT NULL, space TEXT NOT NULL, permissions TEXT NOT NULL, requests_per_minute INTEGER NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER, used_at INTEGER, digest TEXT NOT NULL) STRICT, WITHOUT ROWID;
