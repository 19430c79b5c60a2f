-- Failed tries to embed a stale key: how many, when it is tried again (seconds since 1970), and why it failed.
ALTER TABLE stale ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE stale ADD COLUMN retry_at REAL NOT NULL DEFAULT 0;
ALTER TABLE stale ADD COLUMN error TEXT NOT NULL DEFAULT '';
ALTER TABLE stale ADD COLUMN hint TEXT NOT NULL DEFAULT '';

-- Names (kind 1) and pairs (kind 2) that were given up: they have no vector. Chunks that were say so themselves.
CREATE TABLE unembedded (
    kind     INTEGER NOT NULL,
    id       INTEGER NOT NULL,
    error    TEXT NOT NULL,
    hint     TEXT NOT NULL,
    hopeless INTEGER NOT NULL,                   -- for a reason that a new start does not mend
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;

-- Vectors of texts are remembered by the embedder's name and its number of dimensions.
UPDATE vector SET embedder = embedder || ' (' || (length(data) / 4 / parts) || ' dimensions)' WHERE parts > 0;
