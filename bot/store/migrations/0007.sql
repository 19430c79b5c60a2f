-- What a model was shown counts beside what its answer used; redactions outlive a crash.
ALTER TABLE drawn ADD COLUMN used INTEGER NOT NULL DEFAULT 1;

CREATE TABLE pending_redaction (
    document TEXT NOT NULL,
    part_of  TEXT NOT NULL,
    PRIMARY KEY (document, part_of)
) STRICT, WITHOUT ROWID;
