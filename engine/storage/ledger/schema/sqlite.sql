-- The ledger in SQLite: what it alone has, below the tables of the package.

-- Where chunks and names are, and how long: full-text results are filtered without texts and descriptions.
CREATE INDEX chunk_location ON chunk (id, space, room, tokens);
CREATE TABLE entity_length (
    id     INTEGER PRIMARY KEY,
    space  INTEGER NOT NULL,
    length INTEGER NOT NULL
);
-- Walks read their edges, and the counts of entities, from indexes alone: the rows also hold descriptions.
CREATE INDEX relation_a ON relation (a, b, weight);
CREATE INDEX relation_b ON relation (b, a, weight);
CREATE INDEX entity_counts ON entity (id, mention_count, degree);

-- Full text. The program's function `search_text` separates words of scripts without spaces (see
-- engine/text/languages/unspaced.py); stem terms follow. Rows of a version before it are indexed as they are, until the
-- program has indexed them again.
CREATE VIRTUAL TABLE chunk_fts USING fts5 (text, content = 'chunk', content_rowid = 'id', tokenize = '$tokenizer');
CREATE VIRTUAL TABLE chunk_fts_terms USING fts5vocab (chunk_fts, instance);
CREATE VIRTUAL TABLE entity_fts USING fts5 (name, content = 'entity', content_rowid = 'id', tokenize = '$tokenizer');
CREATE VIRTUAL TABLE entity_fts_terms USING fts5vocab (entity_fts, instance);
CREATE TABLE unsegmented_fts (
    kind     INTEGER PRIMARY KEY, -- 0 chunks, 1 names
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL
);
CREATE TRIGGER chunk_fts_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO chunk_fts (rowid, text)
        VALUES (new.id, search_text(new.text) || CASE new.stems WHEN '' THEN '' ELSE ' ' || new.stems END);
END;
CREATE TRIGGER chunk_fts_delete AFTER DELETE ON chunk BEGIN
    INSERT INTO chunk_fts (chunk_fts, rowid, text) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 0 AND old.id BETWEEN first_id AND last_id)
        THEN old.text ELSE search_text(old.text) || CASE old.stems WHEN '' THEN '' ELSE ' ' || old.stems END END;
END;
CREATE TRIGGER chunk_fts_stems AFTER UPDATE OF stems ON chunk WHEN old.stems <> new.stems BEGIN
    INSERT INTO chunk_fts (chunk_fts, rowid, text)
        VALUES ('delete', old.id, search_text(old.text) || CASE old.stems WHEN '' THEN '' ELSE ' ' || old.stems END);
    INSERT INTO chunk_fts (rowid, text)
        VALUES (new.id, search_text(new.text) || CASE new.stems WHEN '' THEN '' ELSE ' ' || new.stems END);
END;
CREATE TRIGGER entity_fts_insert AFTER INSERT ON entity BEGIN
    INSERT INTO entity_fts (rowid, name) SELECT new.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND new.id BETWEEN first_id AND last_id)
        THEN new.name ELSE search_text(new.name) END;
END;
CREATE TRIGGER entity_fts_delete AFTER DELETE ON entity BEGIN
    INSERT INTO entity_fts (entity_fts, rowid, name) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND old.id BETWEEN first_id AND last_id)
        THEN old.name ELSE search_text(old.name) END;
END;
CREATE TRIGGER entity_fts_rename AFTER UPDATE OF name ON entity WHEN old.name <> new.name BEGIN
    INSERT INTO entity_fts (entity_fts, rowid, name) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND old.id BETWEEN first_id AND last_id)
        THEN old.name ELSE search_text(old.name) END;
    INSERT INTO entity_fts (rowid, name) SELECT new.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND new.id BETWEEN first_id AND last_id)
        THEN new.name ELSE search_text(new.name) END;
END;

-- Triggers keep counters and queues in step with the rows.
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
CREATE TRIGGER name_own_target AFTER INSERT ON name WHEN new.target = -1 BEGIN
    UPDATE name SET target = new.id WHERE id = new.id;
END;
CREATE TRIGGER pair_own_target AFTER INSERT ON pair WHEN new.target = -1 BEGIN
    UPDATE pair SET target = new.id WHERE id = new.id;
END;
CREATE TRIGGER degree_insert AFTER INSERT ON relation BEGIN
    UPDATE entity SET degree = degree + 1 WHERE id IN (new.a, new.b);
END;
CREATE TRIGGER degree_delete AFTER DELETE ON relation BEGIN
    UPDATE entity SET degree = degree - 1 WHERE id IN (old.a, old.b);
END;
CREATE TRIGGER duplicate_candidate_insert AFTER INSERT ON entity BEGIN
    INSERT OR IGNORE INTO uncompared_entity VALUES (new.id);
END;
CREATE TRIGGER duplicate_candidate_delete AFTER DELETE ON entity BEGIN
    DELETE FROM uncompared_entity WHERE id = old.id;
    DELETE FROM duplicate_candidate WHERE a = old.id OR b = old.id;
END;
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
