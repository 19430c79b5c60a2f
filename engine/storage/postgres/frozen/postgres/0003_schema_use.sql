-- online: adds a table.
-- Which process uses the tables of which schema: an update that would break them waits until these have ended.
CREATE TABLE schema_use (process integer NOT NULL REFERENCES process ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL, PRIMARY KEY (process, schema_name));
