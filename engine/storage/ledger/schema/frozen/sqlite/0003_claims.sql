-- Work is taken from all spaces in turn, and claimed by the process that does it.
ALTER TABLE stale_key ADD COLUMN space INTEGER NOT NULL DEFAULT 0; -- of the key; 0 for a chunk that is gone
ALTER TABLE stale_key ADD COLUMN claimed_by INTEGER;               -- a process of a database that several share
DROP INDEX stale_key_next;
CREATE INDEX stale_key_chunk ON stale_key (space, kind, first_generation) WHERE kind = 0 AND on_cooldown = 0;
CREATE INDEX stale_key_profile ON stale_key (space, kind, first_generation) WHERE kind > 0 AND on_cooldown = 0;
DROP INDEX chunk_unextracted;
CREATE INDEX chunk_unextracted ON chunk (space, id) WHERE extraction IS NULL;
