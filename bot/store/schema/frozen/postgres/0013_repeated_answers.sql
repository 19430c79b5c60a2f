-- online: adds columns that a process without them never sets; it answers nothing again.
-- How often a question was answered again, the event that asked for it last, and when (microseconds since 1970).
ALTER TABLE answer ADD COLUMN attempt integer NOT NULL DEFAULT 0;
ALTER TABLE answer ADD COLUMN repeat_event text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE answer ADD COLUMN repeated_at bigint NOT NULL DEFAULT 0;
