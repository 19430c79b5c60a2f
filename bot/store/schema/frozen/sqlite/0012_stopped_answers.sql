-- Who stopped an answer while it was written; empty if nobody did.
ALTER TABLE answer ADD COLUMN stopped_by TEXT NOT NULL DEFAULT '';
