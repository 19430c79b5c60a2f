-- Answers are redacted by what they used, and posted ones are corrected.
INSERT OR IGNORE INTO drawn
    SELECT d.answer, m.room || ':message:' || m.id FROM drawn d JOIN message m ON m.document = d.document
    WHERE d.document <> '';
DELETE FROM drawn WHERE answer IN (SELECT id FROM answer WHERE state = 'blanked');
UPDATE answer SET question = '' WHERE state = 'blanked';

CREATE TABLE correction (
    answer    TEXT PRIMARY KEY,
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    thread    TEXT NOT NULL,
    asker     TEXT NOT NULL,
    message   TEXT NOT NULL,
    mark      TEXT NOT NULL,
    asked     INTEGER NOT NULL,
    since     REAL NOT NULL,
    due       REAL NOT NULL,
    tries     INTEGER NOT NULL DEFAULT 0,
    checked   INTEGER NOT NULL DEFAULT 1
) STRICT, WITHOUT ROWID;
CREATE INDEX correction_due ON correction (due);

ALTER TABLE room ADD COLUMN home TEXT NOT NULL DEFAULT '';
