-- The processes that work on the database. A process holds an advisory lock on its own number as long as its
-- connection lasts; the others remove the row of one that does not. Rows of other schemas that refer to a process are
-- thereby free, and its writes fail, since each begins with a look at its row.
CREATE TABLE process (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now()
);

-- Named work that one process at a time does.
CREATE TABLE lease (
    name    text COLLATE "C" PRIMARY KEY,
    process integer NOT NULL REFERENCES process ON DELETE CASCADE
);
CREATE INDEX lease_process ON lease (process);
