-- Questions narrowed to times and authors find their chunks by indexes. `first`: of its earliest dated passage, else 0.
ALTER TABLE chunk ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
UPDATE chunk SET first = COALESCE(
    (SELECT MIN(COALESCE(p.time, d.time)) FROM piece i JOIN passage p ON p.id = i.passage
     JOIN document d ON d.id = p.document WHERE i.chunk = chunk.id), 0);
DROP INDEX chunk_space;
DROP INDEX chunk_room;
CREATE INDEX chunk_space_time ON chunk (space, time, first);
CREATE INDEX chunk_room_time ON chunk (room, time, first);
CREATE INDEX chunk_space_first ON chunk (space, first);
CREATE INDEX chunk_room_first ON chunk (room, first);
CREATE INDEX chunk_space_long ON chunk (space, first, time) WHERE time > first + 86400000000;
CREATE INDEX chunk_room_long ON chunk (room, first, time) WHERE time > first + 86400000000;
CREATE INDEX passage_author ON passage (author, time);
