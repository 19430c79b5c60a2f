-- Vectors of chunks of open conversations, which grow: each covers the first characters, and only what comes is embedded.
-- `whole`: they were made at once, as those of a closed conversation are.
CREATE TABLE open_vector (
    chunk    INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    covered  INTEGER NOT NULL,
    whole    INTEGER NOT NULL,
    parts    INTEGER NOT NULL,
    data     BLOB NOT NULL,
    PRIMARY KEY (chunk, embedder)
);
