-- The processes that work on the database. A process holds an advisory lock on its own number as long as its
-- connection lasts; the others remove the row of one that does not. Rows of other schemas that refer to a process are
-- thereby free, and its writes fail, since each begins with a look at its row.
CREATE TABLE process (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz -- when the process last said that it works; one that never does is never taken to hang
);

-- Named work that one process at a time does.
CREATE TABLE lease (
    name    text COLLATE "C" PRIMARY KEY,
    process integer NOT NULL REFERENCES process ON DELETE CASCADE
);
CREATE INDEX lease_process ON lease (process);

-- The latest calls of all processes that one limit counts, such as those of a method in a workspace of a chat platform.
-- calls: at most as many as the limit allows, the oldest first; paused_until: the service refuses calls until then.
CREATE TABLE call_window (
    name         text COLLATE "C" PRIMARY KEY,
    calls        timestamptz[] NOT NULL,
    paused_until timestamptz NOT NULL DEFAULT 'epoch'
);

-- Which process uses the tables of which schema: an update that would break them waits until these have ended.
CREATE TABLE schema_use (
    process     integer NOT NULL REFERENCES process ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (process, schema_name)
);
