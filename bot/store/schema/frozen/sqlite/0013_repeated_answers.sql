-- How often a question was answered again, the event that asked for it last, and when (microseconds since 1970).
ALTER TABLE answer ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE answer ADD COLUMN repeat_event TEXT NOT NULL DEFAULT '';
ALTER TABLE answer ADD COLUMN repeated_at INTEGER NOT NULL DEFAULT 0;
