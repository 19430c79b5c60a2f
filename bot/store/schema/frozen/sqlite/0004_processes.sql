-- Several processes may work on one database; in a file there is one, which claims nothing.

-- workspace: its key (platform:workspace), by which the queue is fair. ordering_key: events with the same one are
-- handled in order by one process; '' needs no order. claimed_by: the process that handles it.
ALTER TABLE event ADD COLUMN workspace TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN ordering_key TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN claimed_by INTEGER;
UPDATE event SET workspace =
    COALESCE(json_extract(payload, '$.location.platform'), json_extract(payload, '$.message.location.platform'),
        json_extract(payload, '$.platform'), '') || ':' ||
    COALESCE(json_extract(payload, '$.location.workspace'), json_extract(payload, '$.message.location.workspace'),
        json_extract(payload, '$.workspace'), '')
    WHERE state = 'waiting';
UPDATE event SET ordering_key = workspace WHERE state = 'waiting';
DROP INDEX event_waiting;
CREATE INDEX event_waiting ON event (workspace, id) WHERE state = 'waiting';
CREATE INDEX event_unordered ON event (workspace, id) WHERE state = 'waiting' AND ordering_key = '';
CREATE INDEX event_due_at ON event (due_at) WHERE state = 'waiting';
CREATE INDEX event_claimed ON event (ordering_key) WHERE claimed_by IS NOT NULL;

-- The process that finishes it; NULL once it is gone, and where one process is alone.
ALTER TABLE pending_redaction ADD COLUMN claimed_by INTEGER;

-- Questions of the last minute.
CREATE TABLE recent_question (platform TEXT NOT NULL, workspace TEXT NOT NULL, person TEXT NOT NULL,
    asked_at REAL NOT NULL) STRICT;
CREATE INDEX recent_question_person ON recent_question (platform, workspace, person, asked_at);
CREATE INDEX recent_question_asked_at ON recent_question (asked_at);
