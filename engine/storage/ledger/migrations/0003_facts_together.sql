-- What is said of one name, or of one pair, lies together in the file, the oldest first: it is read together, and where
-- pages come from a disk each of them counts. `number`: of the chunk's mentions, of its links, in the order of reading.
ALTER TABLE mention RENAME TO mention_apart;
CREATE TABLE mention (
    chunk       INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    name        INTEGER NOT NULL REFERENCES name,
    time        INTEGER NOT NULL,
    hash        INTEGER NOT NULL,                -- of the description
    surface     TEXT NOT NULL,
    type        TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (name, time, hash, chunk, number)
) WITHOUT ROWID;
INSERT INTO mention (chunk, number, name, time, hash, surface, type, description)
    SELECT chunk, id, name, time, hash, surface, type, description FROM mention_apart
    ORDER BY name, time, hash, chunk, id;
DROP TABLE mention_apart;
CREATE UNIQUE INDEX mention_chunk ON mention (chunk, number);

ALTER TABLE link RENAME TO link_apart;
CREATE TABLE link (
    chunk       INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    pair        INTEGER NOT NULL REFERENCES pair,
    time        INTEGER NOT NULL,
    hash        INTEGER NOT NULL,
    keywords    TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (pair, time, hash, chunk, number)
) WITHOUT ROWID;
INSERT INTO link (chunk, number, pair, time, hash, keywords, description)
    SELECT chunk, id, pair, time, hash, keywords, description FROM link_apart
    ORDER BY pair, time, hash, chunk, id;
DROP TABLE link_apart;
CREATE UNIQUE INDEX link_chunk ON link (chunk, number);
