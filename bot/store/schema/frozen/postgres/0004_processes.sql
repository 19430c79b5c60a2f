-- Several processes may work on one database.

-- workspace: its key (platform:workspace), by which the queue is fair. ordering_key: events with the same one are
-- handled in order by one process; '' needs no order. claimed_by: the process that handles it.
ALTER TABLE event ADD COLUMN workspace text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN ordering_key text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN claimed_by bigint REFERENCES threadlore_process.process ON DELETE SET NULL;
UPDATE event SET workspace =
    COALESCE(payload::json #>> '{location,platform}', payload::json #>> '{message,location,platform}',
        payload::json ->> 'platform', '') || ':' ||
    COALESCE(payload::json #>> '{location,workspace}', payload::json #>> '{message,location,workspace}',
        payload::json ->> 'workspace', '')
    WHERE state = 'waiting';
UPDATE event SET ordering_key = workspace WHERE state = 'waiting';
DROP INDEX event_waiting;
CREATE INDEX event_waiting ON event (workspace, id) WHERE state = 'waiting';
CREATE INDEX event_unordered ON event (workspace, id) WHERE state = 'waiting' AND ordering_key = '';
CREATE INDEX event_due_at ON event (due_at) WHERE state = 'waiting';
CREATE INDEX event_claimed ON event (ordering_key) WHERE claimed_by IS NOT NULL;
CREATE INDEX event_claimed_by ON event (claimed_by) WHERE claimed_by IS NOT NULL;

-- The process that finishes it; NULL once it is gone, and where one process is alone.
ALTER TABLE pending_redaction ADD COLUMN claimed_by bigint REFERENCES threadlore_process.process ON DELETE SET NULL;

-- The latest change of the audience of each channel, or of a workspace or platform; numbered in the order of commits,
-- because writers take turns.
CREATE TABLE visibility_change (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform text COLLATE "C" NOT NULL, workspace text COLLATE "C" NOT NULL, channel text COLLATE "C" NOT NULL,
    members_only boolean NOT NULL, UNIQUE (platform, workspace, channel, members_only));

-- Channels, workspaces and platforms whose shared spaces are used in no answer, numbered like changes.
-- process: that ends it, NULL once it is gone; event: that ends it when it is handled.
CREATE TABLE suspension (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, platform text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL, channel text COLLATE "C" NOT NULL,
    process bigint REFERENCES threadlore_process.process ON DELETE SET NULL,
    event bigint REFERENCES event ON DELETE SET NULL);
CREATE INDEX suspension_event ON suspension (event);

-- Questions of the last minute.
CREATE TABLE recent_question (platform text COLLATE "C" NOT NULL, workspace text COLLATE "C" NOT NULL,
    person text COLLATE "C" NOT NULL, asked_at double precision NOT NULL);
CREATE INDEX recent_question_person ON recent_question (platform, workspace, person, asked_at);
CREATE INDEX recent_question_asked_at ON recent_question (asked_at);
