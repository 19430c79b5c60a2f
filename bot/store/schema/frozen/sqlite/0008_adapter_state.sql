-- What an adapter keeps across restarts, and what the processes on one database agree on.
CREATE TABLE adapter_state (platform TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (platform, name)) STRICT, WITHOUT ROWID;
