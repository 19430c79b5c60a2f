-- imported: whether messages of the channel were imported from an export.
ALTER TABLE channel ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
