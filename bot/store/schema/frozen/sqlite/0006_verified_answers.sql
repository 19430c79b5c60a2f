-- Answers that a person verified. sources, spaces, rooms: JSON, as in answer. A withdrawn one (state 'review') keeps no
-- text: a source of it was removed or changed.
CREATE TABLE verified_answer (id TEXT PRIMARY KEY, platform TEXT NOT NULL, workspace TEXT NOT NULL,
    channel TEXT NOT NULL, thread TEXT NOT NULL, room TEXT NOT NULL, message TEXT NOT NULL, question TEXT NOT NULL,
    text TEXT NOT NULL, sources TEXT NOT NULL, spaces TEXT NOT NULL, rooms TEXT NOT NULL, asker TEXT NOT NULL,
    author TEXT NOT NULL, verifier TEXT NOT NULL, verified_at INTEGER NOT NULL, state TEXT NOT NULL,
    reported INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX verified_answer_workspace ON verified_answer (platform, workspace, state);
CREATE INDEX verified_answer_room ON verified_answer (room);
CREATE INDEX verified_answer_unreported ON verified_answer (id) WHERE NOT reported;

-- Documents and messages that a verified answer rests on.
CREATE TABLE verified_provenance (verified TEXT NOT NULL REFERENCES verified_answer ON DELETE CASCADE,
    key TEXT NOT NULL, PRIMARY KEY (verified, key)) STRICT, WITHOUT ROWID;
CREATE INDEX verified_provenance_key ON verified_provenance (key);

-- People to ask about a topic, named by managers in a channel (room).
CREATE TABLE expert (room TEXT NOT NULL, person TEXT NOT NULL, topic TEXT NOT NULL, platform TEXT NOT NULL,
    workspace TEXT NOT NULL, PRIMARY KEY (room, person, topic)) STRICT, WITHOUT ROWID;
CREATE INDEX expert_workspace ON expert (platform, workspace);

-- Questions that an expert was asked, each once, by whom and when (seconds since 1970).
CREATE TABLE expert_request (answer TEXT NOT NULL, person TEXT NOT NULL, platform TEXT NOT NULL,
    workspace TEXT NOT NULL, asker TEXT NOT NULL, asked_at REAL NOT NULL,
    PRIMARY KEY (answer, person)) STRICT, WITHOUT ROWID;
CREATE INDEX expert_request_asked_at ON expert_request (asked_at);
