-- What a question came with is in the inbox alone, answers are found by the messages they stand in, and by time.
DROP INDEX answer_begun;
DROP INDEX answer_mark;
ALTER TABLE answer DROP COLUMN handle;
ALTER TABLE answer DROP COLUMN mode;
ALTER TABLE answer DROP COLUMN files;
ALTER TABLE answer DROP COLUMN since;
CREATE INDEX answer_room ON answer (room, time);
CREATE INDEX answer_time ON answer (time);

CREATE TABLE said (
    message TEXT NOT NULL,
    answer  TEXT NOT NULL REFERENCES answer ON DELETE CASCADE,
    PRIMARY KEY (message, answer)
) STRICT, WITHOUT ROWID;
CREATE INDEX said_answer ON said (answer);
INSERT OR IGNORE INTO said
    SELECT each.value, answer.id FROM answer, json_each(
        '[' || replace(json_quote(substr(mark, instr(mark, ':') + 1)), ',', '","') || ']'
    ) each
    WHERE mark <> '';

ALTER TABLE deleted ADD COLUMN wanted INTEGER NOT NULL DEFAULT 1;
CREATE INDEX deleted_time ON deleted (time) WHERE NOT wanted;

DROP INDEX message_author;
CREATE INDEX message_author ON message (author, room, time);
