-- The ledger: present facts with their provenance, and all text. The only truth.
-- Times are microseconds since 1970 (UTC) of the *source*; ids of documents, passages, chunks, names and pairs are never reused.

-- generation: of the last change; removed: of the last removal; embedder: whose vectors stand beside the ledger.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) WITHOUT ROWID, STRICT;

-- Visibility domains and channels, interned.
CREATE TABLE space (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE room (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE document (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL UNIQUE,             -- the caller's id
    space      INTEGER NOT NULL REFERENCES space,
    room       INTEGER NOT NULL REFERENCES room,
    kind       TEXT NOT NULL,                    -- file | conversation | manual
    title      TEXT NOT NULL,
    link       TEXT NOT NULL,
    time       INTEGER,
    open       INTEGER NOT NULL,                 -- an open conversation is not extracted yet
    status     TEXT NOT NULL,                    -- pending | searchable | indexed | failed
    error      TEXT NOT NULL DEFAULT '',
    hint       TEXT NOT NULL DEFAULT '',
    unread     INTEGER NOT NULL DEFAULT 0,       -- chunks not read yet; kept by the triggers below
    generation INTEGER NOT NULL                  -- of the last change of its facts
);
CREATE INDEX document_room ON document (room);
CREATE INDEX document_pending ON document (id) WHERE status = 'pending';
CREATE INDEX document_read ON document (generation) WHERE status = 'searchable' AND unread = 0;

CREATE TABLE passage (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
    key      TEXT NOT NULL,
    position INTEGER NOT NULL,
    time     INTEGER,
    author   TEXT NOT NULL,
    label    TEXT NOT NULL,
    link     TEXT NOT NULL,
    text     TEXT NOT NULL,
    UNIQUE (document, key)
);

CREATE TABLE chunk (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    key       TEXT NOT NULL UNIQUE,              -- hash of document, text and occurrence
    document  INTEGER NOT NULL REFERENCES document ON DELETE CASCADE,
    space     INTEGER NOT NULL,                  -- always its document's
    room      INTEGER NOT NULL,                  -- always its document's
    ordinal   INTEGER NOT NULL,
    tokens    INTEGER NOT NULL,
    time      INTEGER NOT NULL,                  -- of its latest passage, else of its document, else 0
    text      TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    reading   BLOB,                              -- what was read with which reader; NULL: unread
    tries     INTEGER NOT NULL DEFAULT 0,
    retry_at  REAL NOT NULL DEFAULT 0,           -- seconds since 1970; infinite once given up
    hopeless  INTEGER NOT NULL DEFAULT 0,        -- given up for a reason that a new start does not mend
    error     TEXT NOT NULL DEFAULT '',
    hint      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX chunk_document ON chunk (document);
CREATE INDEX chunk_space ON chunk (space);
CREATE INDEX chunk_room ON chunk (room);
CREATE INDEX chunk_text_hash ON chunk (text_hash);
CREATE INDEX chunk_reading ON chunk (reading) WHERE reading IS NOT NULL;
CREATE INDEX chunk_hopeless ON chunk (document) WHERE hopeless;
CREATE INDEX chunk_unread ON chunk (id) WHERE reading IS NULL;

CREATE TRIGGER unread_insert AFTER INSERT ON chunk WHEN new.reading IS NULL BEGIN
    UPDATE document SET unread = unread + 1 WHERE id = new.document;
END;
CREATE TRIGGER unread_delete AFTER DELETE ON chunk WHEN old.reading IS NULL BEGIN
    UPDATE document SET unread = unread - 1 WHERE id = old.document;
END;
CREATE TRIGGER unread_read AFTER UPDATE OF reading ON chunk WHEN (old.reading IS NULL) <> (new.reading IS NULL) BEGIN
    UPDATE document SET unread = unread + (new.reading IS NULL) - (old.reading IS NULL) WHERE id = new.document;
END;

CREATE TABLE piece (
    chunk   INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE,
    start   INTEGER NOT NULL,
    stop    INTEGER NOT NULL,
    PRIMARY KEY (chunk, ordinal)
) WITHOUT ROWID;
CREATE INDEX piece_passage ON piece (passage);

CREATE VIRTUAL TABLE chunk_words USING fts5 (text, content = 'chunk', content_rowid = 'id', tokenize = '$tokenizer');
CREATE TRIGGER chunk_words_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO chunk_words (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER chunk_words_delete AFTER DELETE ON chunk BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, text) VALUES ('delete', old.id, old.text);
END;

-- Names and pairs of names, by space. `target` is the row itself, or where its alias leads.
CREATE TABLE name (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    space     INTEGER NOT NULL REFERENCES space,
    canonical TEXT NOT NULL,
    target    INTEGER NOT NULL,
    UNIQUE (space, canonical)
);
CREATE INDEX name_target ON name (target);
CREATE TRIGGER name_itself AFTER INSERT ON name WHEN new.target = -1 BEGIN
    UPDATE name SET target = new.id WHERE id = new.id;
END;
CREATE TABLE pair (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    space  INTEGER NOT NULL REFERENCES space,
    a      INTEGER NOT NULL,                     -- a name; a pair of which nothing is said may outlive it
    b      INTEGER NOT NULL,                     -- a < b
    target INTEGER NOT NULL,                     -- 0: both ends are one and the same by alias
    UNIQUE (a, b)
);
CREATE INDEX pair_target ON pair (target);
CREATE INDEX pair_b ON pair (b);
CREATE TRIGGER pair_itself AFTER INSERT ON pair WHEN new.target = -1 BEGIN
    UPDATE pair SET target = new.id WHERE id = new.id;
END;

-- What one chunk says about one name, about two names. An empty type: the name was only an end of a link.
-- Migration 3 lays both tables out by name and by pair.
CREATE TABLE mention (
    id          INTEGER PRIMARY KEY,
    chunk       INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
    name        INTEGER NOT NULL REFERENCES name,
    time        INTEGER NOT NULL,
    hash        INTEGER NOT NULL,                -- of the description
    surface     TEXT NOT NULL,
    type        TEXT NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX mention_chunk ON mention (chunk);
CREATE INDEX mention_name ON mention (name, time, hash);
CREATE TABLE link (
    id          INTEGER PRIMARY KEY,
    chunk       INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE,
    pair        INTEGER NOT NULL REFERENCES pair,
    time        INTEGER NOT NULL,
    hash        INTEGER NOT NULL,
    keywords    TEXT NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX link_chunk ON link (chunk);
CREATE INDEX link_pair ON link (pair, time, hash);

-- Corrections by hand, by canonical names, so that they outlive what they correct. b is '' for an entity.
CREATE TABLE alias (
    space  INTEGER NOT NULL REFERENCES space,
    name   TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (space, name)
) WITHOUT ROWID;
CREATE TABLE pin (
    space       INTEGER NOT NULL REFERENCES space,
    a           TEXT NOT NULL,
    b           TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (space, a, b)
) WITHOUT ROWID;
CREATE TABLE hidden (
    space INTEGER NOT NULL REFERENCES space,
    a     TEXT NOT NULL,
    b     TEXT NOT NULL,
    PRIMARY KEY (space, a, b)
) WITHOUT ROWID;

-- What must be projected anew: kind 0 chunk, 1 name, 2 pair. `since`: the first change not yet projected; `generation`: the last.
CREATE TABLE stale (
    kind       INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    held       INTEGER NOT NULL DEFAULT 0,       -- a hot key that waits for the end of its quiet period
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX stale_since ON stale (since);
CREATE INDEX stale_next ON stale (kind, held, since);

-- Profiles: what the fold made of a name (id = name.id) or a pair (id = pair.id).
-- `graphed`: it stands in the graph. `retry_at`: a summary failed and is to be tried again then (seconds since 1970).
CREATE TABLE entity (
    id          INTEGER PRIMARY KEY,
    space       INTEGER NOT NULL,
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    description TEXT NOT NULL,
    mentions    INTEGER NOT NULL,                -- distinct chunks
    degree      INTEGER NOT NULL DEFAULT 0,      -- relations that end here; kept by the triggers below
    graphed     INTEGER NOT NULL DEFAULT 0,
    embedded    BLOB,                            -- hash of the text that its vector was made of
    retry_at    REAL
);
CREATE INDEX entity_space ON entity (space);
CREATE INDEX entity_retry ON entity (retry_at) WHERE retry_at IS NOT NULL;
CREATE TABLE relation (
    id          INTEGER PRIMARY KEY,
    space       INTEGER NOT NULL,
    a           INTEGER NOT NULL,
    b           INTEGER NOT NULL,
    keywords    TEXT NOT NULL,
    description TEXT NOT NULL,
    weight      INTEGER NOT NULL,                -- distinct chunks
    graphed     INTEGER NOT NULL DEFAULT 0,
    embedded    BLOB,
    retry_at    REAL
);
CREATE INDEX relation_a ON relation (a);
CREATE INDEX relation_b ON relation (b);
CREATE INDEX relation_retry ON relation (retry_at) WHERE retry_at IS NOT NULL;
CREATE TRIGGER degree_insert AFTER INSERT ON relation BEGIN
    UPDATE entity SET degree = degree + 1 WHERE id IN (new.a, new.b);
END;
CREATE TRIGGER degree_delete AFTER DELETE ON relation BEGIN
    UPDATE entity SET degree = degree - 1 WHERE id IN (old.a, old.b);
END;
CREATE VIRTUAL TABLE entity_words USING fts5 (name, content = 'entity', content_rowid = 'id', tokenize = '$tokenizer');
CREATE TRIGGER entity_words_insert AFTER INSERT ON entity BEGIN
    INSERT INTO entity_words (rowid, name) VALUES (new.id, new.name);
END;
CREATE TRIGGER entity_words_delete AFTER DELETE ON entity BEGIN
    INSERT INTO entity_words (entity_words, rowid, name) VALUES ('delete', old.id, old.name);
END;
CREATE TRIGGER entity_words_rename AFTER UPDATE OF name ON entity WHEN old.name <> new.name BEGIN
    INSERT INTO entity_words (entity_words, rowid, name) VALUES ('delete', old.id, old.name);
    INSERT INTO entity_words (rowid, name) VALUES (new.id, new.name);
END;

-- Rows by kind and space: they choose the plan of a vector search.
CREATE TABLE population (
    kind  INTEGER NOT NULL,
    space INTEGER NOT NULL,
    rows  INTEGER NOT NULL,
    PRIMARY KEY (kind, space)
) WITHOUT ROWID;
CREATE TRIGGER population_chunk_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO population VALUES (0, new.space, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER population_chunk_delete AFTER DELETE ON chunk BEGIN
    UPDATE population SET rows = rows - 1 WHERE kind = 0 AND space = old.space;
END;
CREATE TRIGGER population_chunk_move AFTER UPDATE OF space ON chunk WHEN old.space <> new.space BEGIN
    UPDATE population SET rows = rows - 1 WHERE kind = 0 AND space = old.space;
    INSERT INTO population VALUES (0, new.space, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER population_entity_insert AFTER INSERT ON entity BEGIN
    INSERT INTO population VALUES (1, new.space, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER population_entity_delete AFTER DELETE ON entity BEGIN
    UPDATE population SET rows = rows - 1 WHERE kind = 1 AND space = old.space;
END;
CREATE TRIGGER population_relation_insert AFTER INSERT ON relation BEGIN
    INSERT INTO population VALUES (2, new.space, 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER population_relation_delete AFTER DELETE ON relation BEGIN
    UPDATE population SET rows = rows - 1 WHERE kind = 2 AND space = old.space;
END;

-- Memos: a summary by the hash of its inputs, with the profiles that use it; vectors of chunk texts by embedder and text.
CREATE TABLE summary (key BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE summary_use (
    kind INTEGER NOT NULL,
    id   INTEGER NOT NULL,
    key  BLOB NOT NULL REFERENCES summary,
    PRIMARY KEY (kind, id, key)
) WITHOUT ROWID;
CREATE INDEX summary_use_key ON summary_use (key);
CREATE TABLE vector (
    embedder  TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    parts     INTEGER NOT NULL,
    data      BLOB NOT NULL,                     -- float32, parts x dim
    PRIMARY KEY (text_hash, embedder)
) WITHOUT ROWID;

-- Answers by the hash of the final messages and the model, with the rows they drew on (kinds as in stale).
CREATE TABLE reply_cache (
    key      BLOB PRIMARY KEY,
    text     TEXT NOT NULL,
    used_at  REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX reply_cache_used ON reply_cache (used_at);
CREATE TABLE reply_use (
    key  BLOB NOT NULL REFERENCES reply_cache ON DELETE CASCADE,
    kind INTEGER NOT NULL,
    id   INTEGER NOT NULL,
    PRIMARY KEY (kind, id, key)
) WITHOUT ROWID;
CREATE INDEX reply_use_key ON reply_use (key);

CREATE TABLE usage (
    day     TEXT NOT NULL,
    purpose TEXT NOT NULL,
    model   TEXT NOT NULL,
    calls   INTEGER NOT NULL,
    input   INTEGER NOT NULL,
    output  INTEGER NOT NULL,
    cost    REAL NOT NULL,
    PRIMARY KEY (day, purpose, model)
) WITHOUT ROWID;
