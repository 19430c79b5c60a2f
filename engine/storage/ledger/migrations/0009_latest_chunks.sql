-- The newest chunks of a scope are found without a look at all of them.
CREATE INDEX chunk_time ON chunk (time);
