-- Work is taken from all spaces in turn, and claimed by the process that does it. There is no index on `claimed_by`:
-- claiming then changes the row alone, in the free half of its page.
ALTER TABLE stale_key ADD COLUMN space bigint NOT NULL DEFAULT 0; -- of the key; 0 for a chunk that is gone
ALTER TABLE stale_key
    ADD COLUMN claimed_by integer REFERENCES threadlore_process.process ON DELETE SET NULL;
ALTER TABLE stale_key SET (fillfactor = 50);
DROP INDEX stale_key_next;
CREATE INDEX stale_key_chunk ON stale_key (space, kind, first_generation) WHERE kind = 0 AND on_cooldown = 0;
CREATE INDEX stale_key_profile ON stale_key (space, kind, first_generation) WHERE kind > 0 AND on_cooldown = 0;
DROP INDEX chunk_unextracted;
CREATE INDEX chunk_unextracted ON chunk (space, id) WHERE extraction IS NULL;
-- Chunks that a process extracts.
CREATE TABLE extraction_claim (chunk bigint PRIMARY KEY,
    process integer NOT NULL REFERENCES threadlore_process.process ON DELETE CASCADE);
CREATE INDEX extraction_claim_process ON extraction_claim (process);
