-- Until when a channel was compared with its platform; of one that is known, up to the last message that is.
ALTER TABLE room ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;
UPDATE room SET compared = COALESCE((SELECT MAX(time) FROM message WHERE message.room = room.room), horizon);

CREATE TABLE missing (
    room  TEXT NOT NULL,
    id    TEXT NOT NULL,
    asked INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (room, id),
    FOREIGN KEY (room, id) REFERENCES message ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
