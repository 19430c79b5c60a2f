-- online: a process of before neither reads nor writes the new table.
-- Tokens and cost of the model calls that indexed texts of a space.
CREATE TABLE space_usage (space INTEGER NOT NULL REFERENCES space, day TEXT NOT NULL, purpose TEXT NOT NULL,
    tokens INTEGER NOT NULL, cost REAL NOT NULL, PRIMARY KEY (space, day, purpose)) WITHOUT ROWID;
