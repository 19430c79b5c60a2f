-- What was forgotten stays so when its author is read again, and what is too old is found without reading all.
ALTER TABLE opted_out ADD COLUMN until INTEGER;
CREATE INDEX message_age ON message (time, id);
