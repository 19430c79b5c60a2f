-- imported_until: the time of the newest export of the channel that was imported, so that older ones change nothing.
ALTER TABLE channel ADD COLUMN imported_until bigint;
-- failures: consecutive failed attempts to write a digest.
ALTER TABLE digest ADD COLUMN failures integer NOT NULL DEFAULT 0;
