-- online: adds a table.
-- The latest calls of all processes that one limit counts, such as those of a method in a workspace of a chat platform.
-- calls: at most as many as the limit allows, the oldest first; paused_until: the service refuses calls until then.
CREATE TABLE call_window (name text COLLATE "C" PRIMARY KEY, calls timestamptz[] NOT NULL,
    paused_until timestamptz NOT NULL DEFAULT 'epoch');
