-- imported: whether messages of the channel were imported from an export.
ALTER TABLE channel ADD COLUMN imported boolean NOT NULL DEFAULT false;
