-- Where chunks and entities are, small and apart from their texts: what full text finds is narrowed by it.
CREATE INDEX chunk_place ON chunk (id, space, room);
CREATE INDEX entity_place ON entity (id, space);
