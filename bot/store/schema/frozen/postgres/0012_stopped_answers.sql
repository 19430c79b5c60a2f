-- online: adds a column that a process without it never sets, so that its answers cannot be stopped.
-- Who stopped an answer while it was written; empty if nobody did.
ALTER TABLE answer ADD COLUMN stopped_by text COLLATE "C" NOT NULL DEFAULT '';
