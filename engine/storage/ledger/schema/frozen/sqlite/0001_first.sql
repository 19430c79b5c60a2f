-- Version 1 of the ledger, as its files have it; the source of the tables explains them.
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE space (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE room (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, space INTEGER REFERENCES space);
CREATE TABLE document (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
    space INTEGER NOT NULL REFERENCES space, room INTEGER NOT NULL REFERENCES room, kind TEXT NOT NULL,
    title TEXT NOT NULL, title_key TEXT NOT NULL DEFAULT '', link TEXT NOT NULL, time INTEGER, open INTEGER NOT NULL,
    status TEXT NOT NULL, error TEXT NOT NULL DEFAULT '', hint TEXT NOT NULL DEFAULT '',
    unextracted_chunks INTEGER NOT NULL DEFAULT 0, generation INTEGER NOT NULL);
CREATE INDEX document_room ON document (room);
CREATE INDEX document_title ON document (title_key) WHERE title_key <> '';
CREATE INDEX document_pending ON document (id) WHERE status = 'pending';
CREATE INDEX document_extracted ON document (generation) WHERE status = 'searchable' AND unextracted_chunks = 0;
CREATE INDEX document_undated ON document (space, room) WHERE time IS NULL;
CREATE TABLE passage (id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, key TEXT NOT NULL, position INTEGER NOT NULL,
    time INTEGER, author TEXT NOT NULL, label TEXT NOT NULL, link TEXT NOT NULL, text TEXT NOT NULL,
    sort_time INTEGER GENERATED ALWAYS AS (COALESCE(time, 0)) VIRTUAL, UNIQUE (document, key));
CREATE INDEX passage_order ON passage (document, position, sort_time, key);
CREATE INDEX passage_author ON passage (author, time);
CREATE TABLE chunk (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES document ON DELETE CASCADE, space INTEGER NOT NULL, room INTEGER NOT NULL,
    ordinal INTEGER NOT NULL, tokens INTEGER NOT NULL, time INTEGER NOT NULL, first_time INTEGER NOT NULL DEFAULT 0,
    text TEXT NOT NULL, text_hash BLOB NOT NULL, extraction BLOB, attempts INTEGER NOT NULL DEFAULT 0,
    retry_at REAL NOT NULL DEFAULT 0, permanent_failure INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
    hint TEXT NOT NULL DEFAULT '');
CREATE INDEX chunk_order ON chunk (document, ordinal);
CREATE INDEX chunk_text_hash ON chunk (text_hash);
CREATE INDEX chunk_extraction ON chunk (extraction) WHERE extraction IS NOT NULL;
CREATE INDEX chunk_unextracted ON chunk (id) WHERE extraction IS NULL;
CREATE INDEX chunk_failed ON chunk (document) WHERE error <> '';
CREATE INDEX chunk_permanent_failure ON chunk (document) WHERE permanent_failure;
CREATE INDEX chunk_location ON chunk (id, space, room, tokens);
CREATE INDEX chunk_time ON chunk (time);
CREATE INDEX chunk_space_time ON chunk (space, time, first_time);
CREATE INDEX chunk_room_time ON chunk (room, time, first_time);
CREATE INDEX chunk_space_first ON chunk (space, first_time);
CREATE INDEX chunk_room_first ON chunk (room, first_time);
CREATE INDEX chunk_space_long ON chunk (space, first_time, time) WHERE time > first_time + 86400000000;
CREATE INDEX chunk_room_long ON chunk (room, first_time, time) WHERE time > first_time + 86400000000;
CREATE TRIGGER unextracted_insert AFTER INSERT ON chunk WHEN new.extraction IS NULL BEGIN
    UPDATE document SET unextracted_chunks = unextracted_chunks + 1 WHERE id = new.document;
END;
CREATE TRIGGER unextracted_delete AFTER DELETE ON chunk WHEN old.extraction IS NULL BEGIN
    UPDATE document SET unextracted_chunks = unextracted_chunks - 1 WHERE id = old.document;
END;
CREATE TRIGGER unextracted_update AFTER UPDATE OF extraction ON chunk
    WHEN (old.extraction IS NULL) <> (new.extraction IS NULL) BEGIN
    UPDATE document
        SET unextracted_chunks = unextracted_chunks + (new.extraction IS NULL) - (old.extraction IS NULL)
        WHERE id = new.document;
END;
CREATE TABLE chunk_passage (chunk INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    passage INTEGER NOT NULL REFERENCES passage ON DELETE CASCADE, start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL, PRIMARY KEY (chunk, ordinal)) WITHOUT ROWID;
CREATE INDEX chunk_passage_passage ON chunk_passage (passage);
CREATE VIRTUAL TABLE chunk_fts USING fts5 (text, content = 'chunk', content_rowid = 'id', tokenize = '$tokenizer');
CREATE VIRTUAL TABLE chunk_fts_terms USING fts5vocab (chunk_fts, instance);
CREATE TRIGGER chunk_fts_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO chunk_fts (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER chunk_fts_delete AFTER DELETE ON chunk BEGIN
    INSERT INTO chunk_fts (chunk_fts, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TABLE name (id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL REFERENCES space,
    canonical TEXT NOT NULL, target INTEGER NOT NULL, spelling_key TEXT NOT NULL, UNIQUE (space, canonical));
CREATE INDEX name_target ON name (target);
CREATE INDEX name_spelling_key ON name (space, spelling_key);
CREATE TRIGGER name_own_target AFTER INSERT ON name WHEN new.target = -1 BEGIN
    UPDATE name SET target = new.id WHERE id = new.id;
END;
CREATE TABLE pair (id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL REFERENCES space, a INTEGER NOT NULL,
    b INTEGER NOT NULL, target INTEGER NOT NULL, UNIQUE (a, b));
CREATE INDEX pair_target ON pair (target);
CREATE INDEX pair_b ON pair (b);
CREATE TRIGGER pair_own_target AFTER INSERT ON pair WHEN new.target = -1 BEGIN
    UPDATE pair SET target = new.id WHERE id = new.id;
END;
CREATE TABLE mention (chunk INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE, number INTEGER NOT NULL,
    name INTEGER NOT NULL REFERENCES name, time INTEGER NOT NULL, hash INTEGER NOT NULL, surface TEXT NOT NULL,
    type TEXT NOT NULL, description TEXT NOT NULL, PRIMARY KEY (name, time, hash, chunk, number)) WITHOUT ROWID;
CREATE UNIQUE INDEX mention_chunk ON mention (chunk, number);
CREATE TABLE link (chunk INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE, number INTEGER NOT NULL,
    pair INTEGER NOT NULL REFERENCES pair, time INTEGER NOT NULL, hash INTEGER NOT NULL, keywords TEXT NOT NULL,
    description TEXT NOT NULL, PRIMARY KEY (pair, time, hash, chunk, number)) WITHOUT ROWID;
CREATE UNIQUE INDEX link_chunk ON link (chunk, number);
CREATE TABLE abbreviation (chunk INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE, short_key TEXT NOT NULL,
    long_core TEXT NOT NULL, space INTEGER NOT NULL, long_key TEXT NOT NULL,
    PRIMARY KEY (chunk, short_key, long_core)) WITHOUT ROWID;
CREATE INDEX abbreviation_short ON abbreviation (space, short_key, long_key, long_core);
CREATE INDEX abbreviation_long ON abbreviation (space, long_key, short_key);
CREATE TABLE alias (space INTEGER NOT NULL REFERENCES space, name TEXT NOT NULL, target TEXT NOT NULL,
    room INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '', PRIMARY KEY (space, name)) WITHOUT ROWID;
CREATE INDEX alias_target ON alias (space, target);
CREATE INDEX alias_room ON alias (room) WHERE room;
CREATE TABLE distinct_names (space INTEGER NOT NULL REFERENCES space, a TEXT NOT NULL, b TEXT NOT NULL,
    room INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (space, a, b)) WITHOUT ROWID;
CREATE INDEX distinct_names_b ON distinct_names (space, b);
CREATE INDEX distinct_names_room ON distinct_names (room) WHERE room;
CREATE TABLE description_override (space INTEGER NOT NULL REFERENCES space, a TEXT NOT NULL, b TEXT NOT NULL,
    description TEXT NOT NULL, room INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (space, a, b)) WITHOUT ROWID;
CREATE INDEX description_override_room ON description_override (room) WHERE room;
CREATE TABLE hidden_key (space INTEGER NOT NULL REFERENCES space, a TEXT NOT NULL, b TEXT NOT NULL,
    room INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (space, a, b)) WITHOUT ROWID;
CREATE INDEX hidden_key_room ON hidden_key (room) WHERE room;
CREATE TABLE stale_key (kind INTEGER NOT NULL, id INTEGER NOT NULL, first_generation INTEGER NOT NULL,
    generation INTEGER NOT NULL, on_cooldown INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    retry_at REAL NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', hint TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE INDEX stale_key_first_generation ON stale_key (first_generation);
CREATE INDEX stale_key_next ON stale_key (kind, on_cooldown, first_generation);
CREATE TABLE embedding_failure (kind INTEGER NOT NULL, id INTEGER NOT NULL, error TEXT NOT NULL, hint TEXT NOT NULL,
    permanent INTEGER NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TABLE entity (id INTEGER PRIMARY KEY, space INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
    description TEXT NOT NULL, mention_count INTEGER NOT NULL, degree INTEGER NOT NULL DEFAULT 0,
    in_graph INTEGER NOT NULL DEFAULT 0, embedding_hash BLOB, retry_at REAL);
CREATE INDEX entity_space ON entity (space);
CREATE INDEX entity_retry ON entity (retry_at) WHERE retry_at IS NOT NULL;
CREATE TABLE relation (id INTEGER PRIMARY KEY, space INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL,
    keywords TEXT NOT NULL, description TEXT NOT NULL, weight INTEGER NOT NULL, in_graph INTEGER NOT NULL DEFAULT 0,
    embedding_hash BLOB, retry_at REAL);
CREATE INDEX relation_a ON relation (a);
CREATE INDEX relation_b ON relation (b);
CREATE INDEX relation_retry ON relation (retry_at) WHERE retry_at IS NOT NULL;
CREATE TRIGGER degree_insert AFTER INSERT ON relation BEGIN
    UPDATE entity SET degree = degree + 1 WHERE id IN (new.a, new.b);
END;
CREATE TRIGGER degree_delete AFTER DELETE ON relation BEGIN
    UPDATE entity SET degree = degree - 1 WHERE id IN (old.a, old.b);
END;
CREATE TABLE uncompared_entity (id INTEGER PRIMARY KEY);
CREATE TABLE duplicate_candidate (a INTEGER NOT NULL, b INTEGER NOT NULL, space INTEGER NOT NULL,
    similarity REAL NOT NULL, score REAL NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE INDEX duplicate_candidate_b ON duplicate_candidate (b);
CREATE INDEX duplicate_candidate_space ON duplicate_candidate (space, score);
CREATE TRIGGER duplicate_candidate_insert AFTER INSERT ON entity BEGIN
    INSERT OR IGNORE INTO uncompared_entity VALUES (new.id);
END;
CREATE TRIGGER duplicate_candidate_delete AFTER DELETE ON entity BEGIN
    DELETE FROM uncompared_entity WHERE id = old.id;
    DELETE FROM duplicate_candidate WHERE a = old.id OR b = old.id;
END;
CREATE VIRTUAL TABLE entity_fts USING fts5 (name, content = 'entity', content_rowid = 'id', tokenize = '$tokenizer');
CREATE VIRTUAL TABLE entity_fts_terms USING fts5vocab (entity_fts, instance);
CREATE TRIGGER entity_fts_insert AFTER INSERT ON entity BEGIN
    INSERT INTO entity_fts (rowid, name) VALUES (new.id, new.name);
END;
CREATE TRIGGER entity_fts_delete AFTER DELETE ON entity BEGIN
    INSERT INTO entity_fts (entity_fts, rowid, name) VALUES ('delete', old.id, old.name);
END;
CREATE TRIGGER entity_fts_rename AFTER UPDATE OF name ON entity WHEN old.name <> new.name BEGIN
    INSERT INTO entity_fts (entity_fts, rowid, name) VALUES ('delete', old.id, old.name);
    INSERT INTO entity_fts (rowid, name) VALUES (new.id, new.name);
END;
CREATE TABLE corpus_stats (kind INTEGER NOT NULL, space INTEGER NOT NULL, room INTEGER NOT NULL,
    row_count INTEGER NOT NULL, total_length INTEGER NOT NULL, PRIMARY KEY (kind, space, room)) WITHOUT ROWID;
CREATE TRIGGER corpus_stats_chunk_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO corpus_stats VALUES (0, new.space, new.room, 1, new.tokens)
        ON CONFLICT DO UPDATE SET row_count = row_count + 1, total_length = total_length + excluded.total_length;
END;
CREATE TRIGGER corpus_stats_chunk_delete AFTER DELETE ON chunk BEGIN
    UPDATE corpus_stats SET row_count = row_count - 1, total_length = total_length - old.tokens
        WHERE kind = 0 AND space = old.space AND room = old.room;
END;
CREATE TRIGGER corpus_stats_chunk_move AFTER UPDATE OF space, room ON chunk
    WHEN old.space <> new.space OR old.room <> new.room BEGIN
    UPDATE corpus_stats SET row_count = row_count - 1, total_length = total_length - old.tokens
        WHERE kind = 0 AND space = old.space AND room = old.room;
    INSERT INTO corpus_stats VALUES (0, new.space, new.room, 1, new.tokens)
        ON CONFLICT DO UPDATE SET row_count = row_count + 1, total_length = total_length + excluded.total_length;
END;
CREATE TRIGGER corpus_stats_relation_insert AFTER INSERT ON relation BEGIN
    INSERT INTO corpus_stats VALUES (2, new.space, 0, 1, 0) ON CONFLICT DO UPDATE SET row_count = row_count + 1;
END;
CREATE TRIGGER corpus_stats_relation_delete AFTER DELETE ON relation BEGIN
    UPDATE corpus_stats SET row_count = row_count - 1 WHERE kind = 2 AND space = old.space AND room = 0;
END;
CREATE TABLE entity_length (id INTEGER PRIMARY KEY, space INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TRIGGER entity_length_insert AFTER INSERT ON entity BEGIN
    INSERT INTO entity_length VALUES (new.id, new.space, LENGTH(new.name));
    INSERT INTO corpus_stats VALUES (1, new.space, 0, 1, LENGTH(new.name))
        ON CONFLICT DO UPDATE SET row_count = row_count + 1, total_length = total_length + excluded.total_length;
END;
CREATE TRIGGER entity_length_delete AFTER DELETE ON entity BEGIN
    DELETE FROM entity_length WHERE id = old.id;
    UPDATE corpus_stats SET row_count = row_count - 1, total_length = total_length - LENGTH(old.name)
        WHERE kind = 1 AND space = old.space AND room = 0;
END;
CREATE TRIGGER entity_length_rename AFTER UPDATE OF name ON entity WHEN old.name <> new.name BEGIN
    UPDATE entity_length SET length = LENGTH(new.name) WHERE id = new.id;
    UPDATE corpus_stats SET total_length = total_length + LENGTH(new.name) - LENGTH(old.name)
        WHERE kind = 1 AND space = new.space AND room = 0;
END;
CREATE TABLE summary (key BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE summary_usage (kind INTEGER NOT NULL, id INTEGER NOT NULL, key BLOB NOT NULL REFERENCES summary,
    PRIMARY KEY (kind, id, key)) WITHOUT ROWID;
CREATE INDEX summary_usage_key ON summary_usage (key);
CREATE TABLE vector (embedder TEXT NOT NULL, text_hash BLOB NOT NULL, parts INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (text_hash, embedder)) WITHOUT ROWID;
CREATE TABLE open_chunk_vector (chunk INTEGER NOT NULL REFERENCES chunk ON DELETE CASCADE, embedder TEXT NOT NULL,
    covered_chars INTEGER NOT NULL, embedded_at_once INTEGER NOT NULL, parts INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (chunk, embedder));
CREATE TABLE answer_cache (key BLOB PRIMARY KEY, text TEXT NOT NULL, used_at REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX answer_cache_used_at ON answer_cache (used_at);
CREATE TABLE answer_cache_source (key BLOB NOT NULL REFERENCES answer_cache ON DELETE CASCADE, kind INTEGER NOT NULL,
    id INTEGER NOT NULL, PRIMARY KEY (kind, id, key)) WITHOUT ROWID;
CREATE INDEX answer_cache_source_key ON answer_cache_source (key);
CREATE TABLE usage (day TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL,
    PRIMARY KEY (day, purpose, model)) WITHOUT ROWID;
