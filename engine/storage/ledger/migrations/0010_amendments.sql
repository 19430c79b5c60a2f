-- A conversation is amended by a look at what stands around the change: its passages and chunks in order.
ALTER TABLE passage ADD COLUMN at INTEGER GENERATED ALWAYS AS (COALESCE(time, 0)) VIRTUAL;
CREATE INDEX passage_order ON passage (document, position, at, key);
DROP INDEX chunk_document;
CREATE INDEX chunk_order ON chunk (document, ordinal);
CREATE INDEX chunk_failed ON chunk (document) WHERE error <> '';
