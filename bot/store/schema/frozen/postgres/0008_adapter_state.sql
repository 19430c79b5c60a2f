-- online: adds a table.
-- What an adapter keeps across restarts, and what the processes on one database agree on.
CREATE TABLE adapter_state (platform text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL, PRIMARY KEY (platform, name));
