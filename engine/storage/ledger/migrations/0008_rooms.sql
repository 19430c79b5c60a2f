-- Where a room is since it was moved: it holds for all its documents, whatever their callers believed. NULL: never moved.
ALTER TABLE room ADD COLUMN space INTEGER REFERENCES space;
-- The room in which a correction was made, which it follows; 0: it was made for the whole space.
ALTER TABLE alias ADD COLUMN room INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pin ADD COLUMN room INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hidden ADD COLUMN room INTEGER NOT NULL DEFAULT 0;
CREATE INDEX alias_room ON alias (room) WHERE room;
CREATE INDEX pin_room ON pin (room) WHERE room;
CREATE INDEX hidden_room ON hidden (room) WHERE room;
