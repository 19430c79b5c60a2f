-- The bot in PostgreSQL: what it alone has, below the tables of the package. Several processes may work on one database.
CREATE INDEX event_claimed_by ON event (claimed_by) WHERE claimed_by IS NOT NULL;

-- The latest change of the audience of each channel, or of a workspace or platform; numbered in the order of commits,
-- because writers take turns.
CREATE TABLE visibility_change (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    members_only boolean NOT NULL,
    UNIQUE (platform, workspace, channel, members_only)
);

-- Channels, workspaces and platforms whose shared spaces are used in no answer, numbered like changes.
-- process: that ends it, NULL once it is gone; event: that ends it when it is handled.
CREATE TABLE suspension (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    process   bigint REFERENCES threadlore_process.process ON DELETE SET NULL,
    event     bigint REFERENCES event ON DELETE SET NULL
);
CREATE INDEX suspension_event ON suspension (event);
