-- online: an older process reads and writes the first columns of daily_usage alone; this one has a default.
-- Cost per workspace and day, in US dollars.
ALTER TABLE daily_usage ADD COLUMN cost REAL NOT NULL DEFAULT 0;
