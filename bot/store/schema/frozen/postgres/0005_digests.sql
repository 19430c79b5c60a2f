-- Scheduled digests: of a channel, or of what a person can read, in their direct messages (personal).
CREATE TABLE digest (room text COLLATE "C" PRIMARY KEY, platform text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL, channel text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL,
    personal boolean NOT NULL, schedule text COLLATE "C" NOT NULL, since bigint NOT NULL, due_at bigint NOT NULL,
    posted text COLLATE "C" NOT NULL);
CREATE INDEX digest_due_at ON digest (due_at);
