-- imported_until: the time of the newest export of the channel that was imported, so that older ones change nothing.
ALTER TABLE channel ADD COLUMN imported_until INTEGER;
-- failures: consecutive failed attempts to write a digest.
ALTER TABLE digest ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
