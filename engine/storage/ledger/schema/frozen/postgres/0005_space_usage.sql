-- online: a process of before neither reads nor writes the new table.
-- Tokens and cost of the model calls that indexed texts of a space.
CREATE TABLE space_usage (space bigint NOT NULL REFERENCES space, day text COLLATE "C" NOT NULL,
    purpose text COLLATE "C" NOT NULL, tokens bigint NOT NULL, cost double precision NOT NULL,
    PRIMARY KEY (space, day, purpose));
