-- Answers that a person verified. sources, spaces, rooms: JSON, as in answer. A withdrawn one (state 'review') keeps no
-- text: a source of it was removed or changed.
CREATE TABLE verified_answer (id text COLLATE "C" PRIMARY KEY, platform text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL, channel text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL,
    room text COLLATE "C" NOT NULL, message text COLLATE "C" NOT NULL, question text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL, sources text COLLATE "C" NOT NULL, spaces text COLLATE "C" NOT NULL,
    rooms text COLLATE "C" NOT NULL, asker text COLLATE "C" NOT NULL, author text COLLATE "C" NOT NULL,
    verifier text COLLATE "C" NOT NULL, verified_at bigint NOT NULL, state text COLLATE "C" NOT NULL,
    reported boolean NOT NULL);
CREATE INDEX verified_answer_workspace ON verified_answer (platform, workspace, state);
CREATE INDEX verified_answer_room ON verified_answer (room);
CREATE INDEX verified_answer_unreported ON verified_answer (id) WHERE NOT reported;

-- Documents and messages that a verified answer rests on.
CREATE TABLE verified_provenance (verified text COLLATE "C" NOT NULL REFERENCES verified_answer ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL, PRIMARY KEY (verified, key));
CREATE INDEX verified_provenance_key ON verified_provenance (key);

-- People to ask about a topic, named by managers in a channel (room).
CREATE TABLE expert (room text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL, topic text COLLATE "C" NOT NULL,
    platform text COLLATE "C" NOT NULL, workspace text COLLATE "C" NOT NULL, PRIMARY KEY (room, person, topic));
CREATE INDEX expert_workspace ON expert (platform, workspace);

-- Questions that an expert was asked, each once, by whom and when (seconds since 1970).
CREATE TABLE expert_request (answer text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL,
    platform text COLLATE "C" NOT NULL, workspace text COLLATE "C" NOT NULL, asker text COLLATE "C" NOT NULL,
    asked_at double precision NOT NULL, PRIMARY KEY (answer, person));
CREATE INDEX expert_request_asked_at ON expert_request (asked_at);
