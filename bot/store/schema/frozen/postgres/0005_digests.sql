-- Scheduled digests: of a channel, or of what a person can read, in their direct messages (personal).
CREATE TABLE digest (
    room      text COLLATE "C" PRIMARY KEY,
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    person    text COLLATE "C" NOT NULL,                       -- who asked for it
    personal  boolean NOT NULL,
    schedule  text COLLATE "C" NOT NULL,                       -- such as "weekly monday 09:00 Europe/Berlin"
    since     bigint NOT NULL,                     -- what happened before was in an earlier one
    due_at    bigint NOT NULL,
    posted    text COLLATE "C" NOT NULL                        -- the message above the digest that is being written, or ''
);
CREATE INDEX digest_due_at ON digest (due_at);
